# Draws the figures of studies/papers/alltoall-multicore.sh (Debian's gnuplot-nox 5.4):
#
#   gnuplot -c studies/papers/multicore.gp FILE.csv FILE.svg TITLE MB/s|microseconds
#
# The first row names the columns. The first column is X, on an axis of powers of two; every other one
# is a curve with its points: bandwidths on a linear axis, times on a logarithmic one.
file = ARG1
is_time = ARG4 eq 'microseconds'

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
set ylabel ARG4
set xlabel system(sprintf('head -n 1 %s | cut -d , -f 1', file))
set logscale x 2
if (is_time) {
  set logscale y 10
} else {
  set yrange [0:*]
}
unset mytics

stats file every ::1 nooutput
columns = STATS_columns
stats file every ::1 using 1 nooutput
set xrange [STATS_min / 1.12 : STATS_max * 1.12]
# 65536: "64 Ki"; labels at every power of two, of four or of sixteen.
exponents = log(STATS_max / STATS_min) / log(2)
label(e) = sprintf('%d%s', 2**(e % 10), e < 10 ? '' : e < 20 ? ' Ki' : ' Mi')
set xtics ()
do for [e = 0:29:(exponents > 16 ? 4 : exponents > 9 ? 2 : 1)] { set xtics add (label(e) 2**e) }

plot for [i = 2:columns] file using 1:i title columnheader(i) with linespoints linetype i - 1
