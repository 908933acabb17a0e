# Draws the figures of studies/papers/cdcp.sh (Debian's gnuplot-nox 5.4):
#
#   gnuplot -c studies/papers/cdcp.gp FILE.csv FILE.svg TITLE X log|linear
#
# The first row names the columns. The first column is X, on an axis of powers of two or a linear one;
# every other one is a curve of microseconds with its points; an empty field is no point. What the
# paper has is drawn as points alone: columns whose names begin with "paper".
file = ARG1
is_log = ARG5 eq 'log'

set terminal svg size 760,470 font 'sans-serif,12' background '#ffffff'
set output ARG2
set datafile separator comma
set encoding utf8
set title ARG3 font ',15' noenhanced

# Okabe and Ito's colors, which people with any color vision can tell apart.
i = 0
do for [color in '#0072b2 #d55e00 #009e73 #cc79a7 #e69f00 #56b4e9 #000000 #a0a000'] {
  i = i + 1
  set linetype i linecolor rgb color linewidth 1.5 pointtype 7 pointsize 0.45
}

set border 3
set tics nomirror font ',11'
set grid xtics ytics linetype 1 linewidth 0.5 linecolor '#e4e4e4'
set key outside right top Left reverse noenhanced samplen 2
set ylabel 'microseconds'
set xlabel ARG4
if (is_log) {
  set logscale x 2
  set logscale y 10
}
unset mytics

stats file every ::1 nooutput
columns = STATS_columns
stats file every ::1 using 1 nooutput
if (is_log) { set xrange [STATS_min / 1.12 : STATS_max * 1.12] } else { set yrange [0:*] }

is_paper(i) = system(sprintf('head -n 1 %s | cut -d , -f %d', file, i))[1:5] eq 'paper'
plot for [i = 2:columns] file using 1:i title columnheader(i) \
  with linespoints linetype i - 1 linewidth (is_paper(i) ? 0 : 1.5) \
  pointtype (is_paper(i) ? 2 : 7) pointsize (is_paper(i) ? 1 : 0.45)
