# Draws curves from a CSV file (Debian's gnuplot-nox 5.4):
#
#   gnuplot -c bench/plot.gp FILE.csv FILE.svg TITLE X Y [LEAST:MOST [LOW HIGH]]
#
# The first row names the columns, the first column is X. X is the title of its axis, which has powers of
# two, or the points' X where the first is none: `bytes ...` are labelled in KiB and MiB; `linear: ...` is an axis that
# begins at 0. Y: `seconds` or `us`, logarithmic; `MB/s`, or others, linear from 0; `..., logarithmic`; `% ...`, up to 100. Columns `bound`, `peak`
# and `one link` are drawn dashed, those whose names begin with "paper" as crosses: numbers of a text.
# An empty field is no point. Where curves lie on each other the earlier one is broader, and gaps show it.
#
# LEAST:MOST: a panel below has the curves over the first, the second column, linear from LEAST to MOST. LOW to
# HIGH is what a text says of that.
if (ARGC < 5 || ARGC == 7 || ARGC > 8) {
  print "gnuplot -c bench/plot.gp FILE.csv FILE.svg TITLE X Y [LEAST:MOST [LOW HIGH]]"
  exit status 2
}
file = ARG1
x_title = ARG4
y_title = ARG5
is_linear = x_title[1:8] eq 'linear: '
is_bytes = x_title[1:5] eq 'bytes'
is_time = y_title eq 'seconds' || y_title eq 'us'
is_log = strstrt(y_title, ', logarithmic') > 0
has_ratios = ARGC > 5

set terminal svg size 760,(has_ratios ? 680 : 470) font 'sans-serif,14' background '#ffffff'
set output ARG2
set datafile separator comma
set encoding utf8

stats file every ::1 nooutput
columns = STATS_columns
# The name of a column.
name(i) = system(sprintf('head -n 1 %s | cut -d , -f %d', file, i))
is_paper(i) = name(i)[1:5] eq 'paper'
is_bound(i) = name(i) eq 'bound' || name(i) eq 'peak' || name(i) eq 'one link'

# Okabe and Ito's colors, which people with any color vision can tell apart, and two more.
array color[9] = ['#0072b2', '#d55e00', '#009e73', '#cc79a7', '#e69f00', '#56b4e9', '#a0a000', '#7f3f00', '#808080']
least = 1e300
most = 0
curves = 0
longest = 16
do for [i = 2:columns] {
  stats file every ::1 using i nooutput
  least = STATS_min < least ? STATS_min : least
  most = STATS_max > most ? STATS_max : most
  longest = strlen(name(i)) > longest ? strlen(name(i)) : longest
  if (is_bound(i)) {
    set linetype i linecolor rgb '#000000' linewidth 1.5 dashtype 2 pointtype 7 pointsize 0.01
  } else {
    curves = curves + 1
    shade = color[(curves - 1) % 9 + 1]
    if (is_paper(i)) {
      set linetype i linecolor rgb shade linewidth 0 pointtype 2 pointsize 1.3
    } else {
      set linetype i linecolor rgb shade linewidth (curves < 6 ? 4.6 - 0.7 * curves : 1.2) pointtype 7 pointsize 0.5
      if (curves % 3 == 2) { set linetype i dashtype (14, 5) }
      if (curves % 3 == 0) { set linetype i dashtype (4, 5) }
    }
  }
}

set border 3
set tics nomirror font ',13'
set grid xtics ytics linetype 1 linewidth 0.5 linecolor '#e4e4e4' dashtype 1
set key outside right top Left reverse noenhanced samplen 2
unset mytics
stats file every ::1 using 1 nooutput
if (is_linear) {
  x_title = x_title[9:*]
} else {
  set logscale x 2
  set xrange [STATS_min / 1.12 : STATS_max * 1.12]
  # 65536 bytes: "64 KiB"; labels at powers of two, of four or of sixteen where there are many.
  exponents = log(STATS_max / STATS_min) / log(2)
  label(e) = is_bytes ? sprintf('%d %s', 2**(e % 10), word('B KiB MiB GiB TiB', e / 10 + 1)) : sprintf('%d', 2**e)
  set xtics ()
  if (2**floor(log(STATS_min) / log(2) + 0.5) != STATS_min) {
    do for [x in system('tail -n +2 '.file.' | cut -d , -f 1')] { set xtics add (x x + 0) }
  } else { do for [e = 0:49:(exponents > 16 ? 4 : exponents > 8 ? 2 : 1)] { set xtics add (label(e) 2**e) } }
}
if ((is_time && !is_linear) || is_log) {
  set logscale y 10
  if (is_time) {
    set format y '%.0s %cs'
  } else {
    set yrange [least / 1.25 : most * 1.25]
    if (most < 100 * least) {
      set ytics ()
      do for [e = 0:6] { do for [f in '1 1.5 2 3 5 7'] { set ytics add (sprintf('%g', f * 10**e) f * 10**e) } }
    }
  }
} else {
  if (y_title[1:1] eq '%') { set yrange [(least > 60 ? 5 * floor(least / 5) - 5 : 0):100] } else { set yrange [0:*] }
}
set ylabel is_time ? 'time' : is_log ? y_title[1:strstrt(y_title, ',') - 1] : y_title
if (has_ratios) {
  set lmargin 12
  set rmargin longest + 6
  set multiplot layout 2,1 title ARG3 font ',16' noenhanced
} else {
  set title ARG3 font ',16' noenhanced
  set xlabel x_title
}
unit = y_title eq 'us' ? 1e-6 : 1
plot for [i = 2:columns] file using 1:(column(i) * unit) title columnheader(i) with linespoints linetype i

if (has_ratios) {
  unset logscale y
  set format y '%g'
  set ylabel 'time over '.name(2)
  set xlabel x_title
  set yrange [@ARG6]
  set arrow 1 from graph 0, first 1 to graph 1, first 1 nohead linewidth 1 linecolor rgb '#808080'
  set ytics auto
  if (ARGC > 6) {
    set object 1 rectangle from graph 0, first ARG7 + 0 to graph 1, first ARG8 + 0 \
      fillcolor '#b8b8b8' fillstyle solid 0.35 noborder behind
    set label 1 'published' at graph 1.02, first ARG8 + 0 textcolor rgb '#606060'
  }
  plot for [i = 3:columns] file using 1:(column(i) / column(2)) notitle with linespoints linetype i
  unset multiplot
}
