#!/bin/bash
# Pages can be read aloud: no sentence of more than 30 words, no cell of a table of more than 200
# columns, no clause of "what" or "who" as a subject, no possessive as a predicate ("is torc's").
# docs/developers/words.md has the rules. sentences.txt has how many clauses and possessives older
# pages may have; TORC_UPDATE_TESTS=1 lowers these numbers to those of today.
set -euo pipefail
cd "$(dirname "$(realpath WORKSPACE)")"
mapfile -d '' -t pages < <(find . -path './bazel-*' -prune -o -type f -name '*.md' -print0)
[[ ${#pages[@]} -gt 30 ]] || {
  echo "sentences_test: ${#pages[@]} pages found in $PWD"
  exit 1
}

perl -CSD -e '
  use strict;
  my ($failures, $paragraph, $begin, $is_code) = (0, "", 0, 0);
  my ($list, %allowed, %found) = ("tests/tools/sentences.txt");
  open(my $rows, "<", $list) or die "$list: $!";
  /^(\d+) (.*)/ and $allowed{"./$2"} = $1 while <$rows>;
  sub fail {
    print "sentences_test: $ARGV:$_[0]: $_[1]\n";
    $failures++;
  }
  # Code is one word, the target of a link none, nor what has no letter or digit.
  sub endParagraph {
    my ($text, $line) = @_;
    $text =~ s/`([^`]*)`/"code" . "\n" x ($1 =~ tr,\n,,)/ge;
    $text =~ s/\]\([^)]*\)/]/g;
    foreach my $sentence (split /((?<=[.!?:;])[)*"]*\s+)/, $text) {
      my $words = grep { /\w/ } split " ", $sentence;
      my $flat = $sentence =~ tr/\n/ /r;
      fail($line, "a sentence of $words words: $flat") if $words > 30;
      push @{$found{$ARGV}}, "$line: a clause as subject: $flat"
        if $flat =~ /^\W*(What|Who|Whose)\s+\S/ && $flat !~ /\?\W*$/;
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
  while (<>) {
    chomp;
    if (/^\s*```/) { endOfText(); $is_code = !$is_code; }
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
  foreach my $page (sort keys %found) {
    my @of = @{$found{$page}};
    next if @of <= ($allowed{$page} // 0);
    print "sentences_test: $page:$_\n" foreach @of;
    print "sentences_test: $page: " . @of . " of these, $list has " . ($allowed{$page} // 0) . "\n";
    $failures++;
  }
  if ($ENV{TORC_UPDATE_TESTS}) {
    open(my $out, ">", $list) or die "$list: $!";
    foreach my $page (sort keys %allowed) {
      my $count = @{$found{$page} // []};
      $count = $allowed{$page} if $allowed{$page} < $count;
      print $out "$count " . substr($page, 2) . "\n" if $count;
    }
  }
  exit($failures > 0);
' "${pages[@]}"
