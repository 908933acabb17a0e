# Draws a CSV file as bars (Debian's gnuplot-nox 5.4):
#
#   gnuplot -c studies/papers/bars.gp FILE.csv FILE.svg TITLE Y [stacked]
#
# The first row names the columns; the first column names the groups of bars. Stacked are the second and
# the third column.
if (ARGC < 4 || ARGC > 5) {
  print "gnuplot -c studies/papers/bars.gp FILE.csv FILE.svg TITLE Y [stacked]"
  exit status 2
}
set terminal svg size 760,470 font 'sans-serif,14' background '#ffffff'
set output ARG2
set datafile separator comma
set encoding utf8
set title ARG3 font ',16' noenhanced
i = 0
do for [color in '#0072b2 #d55e00 #009e73 #cc79a7 #e69f00 #56b4e9'] {
  i = i + 1
  set linetype i linecolor rgb color
}
set style data histograms
if (ARGC == 5) {
  set style histogram rowstacked
  set boxwidth 0.6
  set xtics rotate by -25
} else {
  set style histogram clustered gap 1
}
set style fill solid 0.9 border rgb '#ffffff'
set border 3
set tics nomirror font ',13' noenhanced
set grid ytics linetype 1 linewidth 0.5 linecolor '#e4e4e4'
set key outside right top Left reverse noenhanced samplen 2
set yrange [0:*]
set ylabel ARG4
stats ARG1 every ::1 nooutput
plot for [i = 2:(ARGC == 5 ? 3 : STATS_columns)] ARG1 using i:xtic(1) title columnheader(i) linetype i - 1
