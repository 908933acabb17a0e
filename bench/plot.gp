# Draws times or bandwidths from a CSV file as curves (Debian's gnuplot-nox 5.4):
#
#   gnuplot -c bench/plot.gp FILE.csv FILE.svg TITLE X [bandwidth]
#
# The first row names the columns. The first column is X, `bytes` or `nodes`, on a logarithmic axis;
# the second is a bound, drawn dashed; every other one is a curve with its points; an empty field is
# no point. Times are in seconds, on a logarithmic axis, bandwidths in MB/s, from 0.
if (ARGC < 4 || ARGC > 5 || (ARGC == 5 && ARG5 ne 'bandwidth')) {
  print "gnuplot -c bench/plot.gp FILE.csv FILE.svg TITLE X [bandwidth]"
  exit status 2
}
file = ARG1
is_bytes = ARG4 eq 'bytes'
is_bandwidth = ARGC == 5

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
set logscale x 2
if (is_bandwidth) {
  set yrange [0:*]
} else {
  set logscale y 10
  set format y '%.0s %cs'
}
unset mytics
set ylabel is_bandwidth ? 'bandwidth, MB/s' : 'time'
set xlabel is_bytes ? 'bytes of the vector' : ARG4

stats file every ::1 nooutput
columns = STATS_columns
stats file every ::1 using 1 nooutput
set xrange [STATS_min / 1.12 : STATS_max * 1.12]
# 65536 bytes: "64 KiB"; labels at powers of two, of four or of sixteen where there are many.
exponents = log(STATS_max / STATS_min) / log(2)
label(e) = is_bytes ? sprintf('%d %s', 2**(e % 10), word('B KiB MiB GiB TiB', e / 10 + 1)) : sprintf('%d', 2**e)
set xtics ()
do for [e = 0:49:(exponents > 16 ? 4 : exponents > 11 ? 2 : 1)] { set xtics add (label(e) 2**e) }

plot file using 1:2 title columnheader(2) with lines linetype 1 dashtype 2, \
  for [i = 3:columns] file using 1:i title columnheader(i) with linespoints linetype i - 1
