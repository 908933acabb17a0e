# Draws shares of peak from a CSV file as curves, or times as stacked bars (Debian's gnuplot-nox 5.4):
#
#   gnuplot -c studies/papers/efficiency.gp FILE.csv FILE.svg TITLE X
#   gnuplot -c studies/papers/efficiency.gp FILE.csv FILE.svg TITLE bars
#
# The first row names the columns. Curves: the first column is X, on a logarithmic axis, the others are
# per cent. Bars: the first column names them, the second and third are stacked.
if (ARGC != 4) {
  print "gnuplot -c studies/papers/efficiency.gp FILE.csv FILE.svg TITLE X|bars"
  exit status 2
}
set terminal svg size 760,470 font 'sans-serif,12' background '#ffffff'
set output ARG2
set datafile separator comma
set encoding utf8
set title ARG3 font ',15' noenhanced

# Okabe and Ito's colors, which people with any color vision can tell apart.
i = 0
do for [color in '#0072b2 #d55e00 #009e73 #cc79a7 #e69f00 #56b4e9'] {
  i = i + 1
  set linetype i linecolor rgb color linewidth 1.5 pointtype 7 pointsize 0.45
}
set border 3
set tics nomirror font ',11'
set grid ytics linetype 1 linewidth 0.5 linecolor '#e4e4e4'
set key outside right top Left reverse noenhanced samplen 2
if (ARG4 eq 'bars') {
  set style data histograms
  set style histogram rowstacked
  set style fill solid 0.85
  set boxwidth 0.6
  set yrange [0:1.05]
  set ylabel 'time, 2-D as 1'
  set xtics rotate by -25 noenhanced
  plot for [i = 2:3] ARG1 using i:xtic(1) title columnheader(i) linetype i - 1
} else {
  stats ARG1 every ::1 nooutput
  columns = STATS_columns
  stats ARG1 every ::1 using 1 nooutput
  set xrange [STATS_min / 1.12 : STATS_max * 1.12]
  set logscale x 2
  set yrange [0:100]
  set ylabel 'per cent of peak'
  set xlabel ARG4
  plot for [i = 2:columns] ARG1 using 1:i:xtic(1) title columnheader(i) with linespoints linetype i - 1
}
