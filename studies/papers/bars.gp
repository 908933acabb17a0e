# Draws a CSV file as bars (Debian's gnuplot-nox 5.4):
#
#   gnuplot -c studies/papers/bars.gp FILE.csv FILE.svg TITLE YLABEL
#
# The first row names the columns; the first column names the groups of bars.
if (ARGC != 4) {
  print "gnuplot -c studies/papers/bars.gp FILE.csv FILE.svg TITLE YLABEL"
  exit status 2
}
set terminal svg size 760,420 font 'sans-serif,12' background '#ffffff'
set output ARG2
set datafile separator comma
set encoding utf8
set title ARG3 font ',15' noenhanced
i = 0
do for [color in '#0072b2 #d55e00 #009e73 #cc79a7 #e69f00 #56b4e9'] {
  i = i + 1
  set linetype i linecolor rgb color
}
set style data histograms
set style histogram clustered gap 1
set style fill solid 0.9 border rgb '#ffffff'
set border 3
set tics nomirror font ',11' noenhanced
set grid ytics linetype 1 linewidth 0.5 linecolor '#e4e4e4'
set key outside right top Left reverse noenhanced samplen 2
set yrange [0:*]
set ylabel ARG4
stats ARG1 every ::1 nooutput
plot for [i = 2:STATS_columns] ARG1 using i:xtic(1) title columnheader(i) linetype i - 1
