#!/usr/bin/perl -CSD
# Pages and comments can be read aloud: no sentence of more than 30 words, no cell of a table of more
# than 200 columns, no clause of "what" or "who" as a subject or object, no possessive as a predicate
# ("is torc's"). docs/developers/words.md has the rules. Pages are checked for clauses that begin a
# sentence, comments for all. sentences.txt has the number of exceptions of older files;
# TORC_UPDATE_TESTS=1 lowers these numbers to those of today.
use strict;
use Cwd "realpath";
chdir(realpath("WORKSPACE") =~ s,/[^/]*$,,r);
my $sources = q('(' -name '*.h' -o -name '*.cc' -o -name '*.sh' -o -name '*.mjs' -o -name '*.py' -o -name '*.bzl' -o -name BUILD ')');
@ARGV = split "\0", join "", map { `find $_ -print0` } "*.md docs -name '*.md'",
    "bench compiler ir linalg model passes runtime schedules settings studies support tools trace viewer -type f $sources",
    "tests -type f '(' -name '*.h' -o -name BUILD ')'";
die "sentences_test: " . @ARGV . " files found\n" if @ARGV <= 600;
my ($failures, $paragraph, $begin, $is_code, $column, $was_apart) = (0, "", 0, 0, 0, 0);
my ($list, %allowed, %found) = ("tests/tools/sentences.txt");
open(my $rows, "<", $list) or die "$list: $!";
/^(\d+) (.*)/ and $allowed{$2} = $1 while <$rows>;
sub fail {
  print "sentences_test: $ARGV:$_[0]: $_[1]\n";
  $failures++;
}
# Code is one word, the target of a link none, nor a sign without a letter or digit. In comments a
# quoted text is one word, too.
sub endParagraph {
  my ($text, $line) = @_;
  my $is_page = $ARGV =~ /\.md$/;
  $text =~ s/`([^`]*)`/"code" . "\n" x ($1 =~ tr,\n,,)/ge;
  $text =~ s/\]\([^)]*\)/]/g;
  $text =~ s/"([^"]*)"/"text" . "\n" x ($1 =~ tr,\n,,)/ge if !$is_page;
  my $clause = $is_page ? qr/^\W*(What|Who|Whose)\s+\S/ : qr/\b([Ww]hat|[Ww]ho)\b(?!-)/;
  foreach my $sentence (split /((?<=[.!?:;])[)*"]*\s+)/, $text) {
    my $words = grep { /\w/ } split " ", $sentence;
    my $flat = $sentence =~ tr/\n/ /r;
    fail($line, "a sentence of $words words: $flat") if $words > 30;
    push @{$found{$ARGV}}, "$line: a clause as subject or object: $flat"
      if $flat =~ $clause && $flat !~ /\?\W*$/;
    push @{$found{$ARGV}}, "$line: a possessive as predicate: $flat"
      if $flat =~ /\b(is|are|was|were|be)\s+((not|also|all|the|a|an)\s+)*(?!(it|that|there|what)\b)\w+(\x27s|s\x27)
                   (?=\W*$|[,)]|\s+(and|or|but|too|alone|not|if|where|when|while|in|on|at|as|by|for|with)\b)/x;
    $line += $sentence =~ tr/\n//;
  }
}
sub endOfText {
  endParagraph($paragraph, $begin);
  $paragraph = "";
}
# The column and the text of the comment in a line, which may follow code.
sub commentOf {
  my $is_cpp = $ARGV =~ /\.(h|cc|mjs)$/;
  my $begins = $is_cpp ? qr,^(?:[^"\x27/]|"(?:[^"\\]|\\.)*"|\x27(?:\\.|[^\\])\x27|\x27|/(?!/))*///?,
                       : qr/^\s*#(?!!)/;
  return /$begins(?!\s*shellcheck)(.*)/ ? ($-[1], $1) : (0, "");
}
while (<>) {
  chomp;
  if ($ARGV !~ /\.md$/) {
    # Lists, formulas and comments behind code are paragraphs of their own.
    my ($at, $comment) = commentOf();
    my $is_apart = $comment =~ /^\s*([-*]|\d+\.) |^\s{2,}/;
    endOfText() if $comment !~ /\S/ || $is_apart || $was_apart || $at != $column || !m,^\s*[#/],;
    ($column, $was_apart) = ($at, $is_apart);
    $begin = $. if $paragraph eq "";
    $paragraph .= "$comment\n";
  }
  elsif (/^\s*```/) { endOfText(); $is_code = !$is_code; }
  elsif ($is_code) { }
  elsif (/^\|/) {
    endOfText();
    foreach my $cell (split /\s*(?<!\\)\|\s*/) {
      fail($., "a cell of " . length($cell) . " columns: $cell") if length($cell) > 200;
      endParagraph($cell, $.);
    }
  } elsif (/^#/ || !/\S/) { endOfText(); }
  else {
    endOfText() if /^\s*([-*]|\d+\.) /;
    $begin = $. if $paragraph eq "";
    $paragraph .= "$_\n";
  }
} continue {
  if (eof) { endOfText(); $is_code = 0; close ARGV; }
}
foreach my $file (sort keys %found) {
  my @of = @{$found{$file}};
  next if @of <= ($allowed{$file} // 0);
  print "sentences_test: $file:$_\n" foreach @of;
  print "sentences_test: $file: " . @of . " of these, $list has " . ($allowed{$file} // 0) . "\n";
  $failures++;
}
if ($ENV{TORC_UPDATE_TESTS}) {
  open(my $out, ">", $list) or die "$list: $!";
  foreach my $file (sort keys %allowed) {
    my $count = @{$found{$file} // []};
    $count = $allowed{$file} if $allowed{$file} < $count;
    print $out "$count $file\n" if $count;
  }
}
exit($failures > 0);
