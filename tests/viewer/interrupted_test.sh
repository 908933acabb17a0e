#!/bin/bash
# Ends torc view --png by signals: the browser, here a script, its child processes and its profile
# are removed.
set -euo pipefail
torc=$PWD/$1
cd "$TEST_TMPDIR"
ulimit -c 0
mkdir path
cat >path/chromium <<'END'
#!/bin/bash
for argument; do
  if [[ $argument == --user-data-dir=* ]]; then folder=${argument#*=}; fi
done
sleep 300 &
echo "$$ $! $folder" >started.new
mv started.new started
wait
END
chmod +x path/chromium
"$torc" compile allreduce --torus 2 --algorithm bucket -o a.torc --quiet

gone() {
  for ((i = 0; i < 200; ++i)); do
    if [[ ! -e /proc/$1 ]] || grep -q ') Z ' "/proc/$1/stat"; then return; fi
    sleep 0.05
  done
  echo "process $1 goes on" >&2
  return 1
}

# Of what `env` does with the signals, and signals sent: the last one ends torc.
ends_by() {
  local option=$1 status=0 browser child folder
  shift
  rm -f started
  env "$option" PATH="$PWD/path:$PATH" "$torc" view a.torc --png a.png &
  local viewer=$!
  until [[ -e started ]]; do sleep 0.02; done
  read -r browser child folder <started
  [[ -d $folder ]]
  for signal; do
    kill -s "$signal" "$viewer"
    sleep 0.2
  done
  wait "$viewer" || status=$?
  [[ $(kill -l "$status") == "$signal" ]]
  gone "$browser"
  gone "$child"
  [[ ! -e $folder && ! -e a.png ]]
}

ends_by --default-signal INT
ends_by --default-signal QUIT
ends_by --default-signal TERM
ends_by --default-signal HUP
ends_by --ignore-signal=HUP HUP TERM # as nohup does
