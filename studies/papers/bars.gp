# Draws a CSV file as bars (Debian's gnuplot-nox 5.4):
#
#   gnuplot -c studies/papers/bars.gp FILE.csv FILE.svg TITLE Y [stacked]
#
# The first row names the columns; the first column names the groups of bars. Stacked are the second and
# the third column. The last columns whose names begin with "paper" are drawn as crosses, numbers of a text: "paper: NAME" at the
# bars of the column NAME.
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
is_stacked = ARGC == 5
if (is_stacked) {
  set style histogram rowstacked
  set boxwidth 0.6
} else {
  set style histogram clustered gap 1
}
set style fill solid 0.9 border rgb '#ffffff'
set border 3
set xtics rotate by -25
set tics nomirror font ',13' noenhanced
set grid ytics linetype 1 linewidth 0.5 linecolor '#e4e4e4'
set key below left Left reverse noenhanced samplen 2
set yrange [0:*]
set ylabel ARG4
stats ARG1 every ::1 nooutput
name(i) = system(sprintf('head -n 1 %s | cut -d , -f %d', ARG1, i))
paper = STATS_columns + 1
do for [i = STATS_columns:2:-1] { if (name(i)[1:5] eq 'paper') { paper = i } }
last = is_stacked ? 3 : paper - 1
# Where in a group the bars of a column stand.
offset(i) = is_stacked ? 0 : (i - 2 - (last - 2) / 2.0) / last
array at[STATS_columns]
do for [mark = paper:STATS_columns] {
  at[mark] = 0
  do for [i = 2:last] { if (strstrt(name(mark), ': '.name(i))) { at[mark] = offset(i) } }
}
set style line 1 linecolor rgb '#000000' linewidth 2 pointtype 2 pointsize 1.3
set style line 2 linecolor rgb '#000000' linewidth 2 pointtype 4 pointsize 1.3
plot for [i = 2:last] ARG1 using i:xtic(1) title columnheader(i) linetype i - 1, \
  for [i = paper:STATS_columns] ARG1 using ($0 + at[i]):i title columnheader(i) with points linestyle i - paper + 1
