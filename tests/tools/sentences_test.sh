#!/bin/bash
# Pages can be read aloud: no sentence of more than 30 words, no cell of a table of more than 200
# columns. docs/developers/words.md has the rule.
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
      fail($line, "a sentence of $words words: " . $sentence =~ tr/\n/ /r) if $words > 30;
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
  exit($failures > 0);
' "${pages[@]}"
