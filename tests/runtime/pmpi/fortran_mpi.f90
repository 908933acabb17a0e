! Collectives by the module mpi. Prints nothing when all is well.
program fortran_mpi
  use mpi
  implicit none
  integer, parameter :: count = 600
  integer :: rank, ranks, i, j, n, faults, ierror, request, persistent, half
  integer :: statuses(MPI_STATUS_SIZE)
  double precision :: in(count), out(count), expected(count)
  double precision :: exchanged(count)
  integer, allocatable :: counts(:), offsets(:)

  call MPI_INIT(ierror)
  call MPI_COMM_RANK(MPI_COMM_WORLD, rank, ierror)
  call MPI_COMM_SIZE(MPI_COMM_WORLD, ranks, ierror)
  in = [(rank + i, i=1, count)]
  expected = [(ranks*(ranks - 1)/2 + ranks*i, i=1, count)]
  faults = 0

  call MPI_ALLREDUCE(in, out, count, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, ierror)
  if (any(out /= expected)) faults = faults + 1

  out = in
  call MPI_IALLREDUCE(MPI_IN_PLACE, out, count, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, &
                      request, ierror)
  call MPI_BARRIER(MPI_COMM_WORLD, ierror)
  call MPI_WAIT(request, statuses, ierror)
  if (any(out /= expected)) faults = faults + 1

  call MPI_ALLREDUCE_INIT(in, out, count, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, &
                          MPI_INFO_NULL, persistent, ierror)
  do i = 1, 3
    out = -1
    call MPI_START(persistent, ierror)
    call MPI_WAIT(persistent, MPI_STATUS_IGNORE, ierror)
    if (any(out /= expected)) faults = faults + 1
  end do
  call MPI_REQUEST_FREE(persistent, ierror)

  call MPI_COMM_SPLIT(MPI_COMM_WORLD, rank/(ranks/2), rank, half, ierror)
  call MPI_IALLREDUCE(in, out, count, MPI_DOUBLE_PRECISION, MPI_MAX, half, request, ierror)
  call MPI_COMM_FREE(half, ierror)
  call MPI_WAIT(request, MPI_STATUS_IGNORE, ierror)
  if (any(out /= [((rank/(ranks/2) + 1)*(ranks/2) - 1 + i, i=1, count)])) faults = faults + 1

  ! Rooted calls, from and to the last rank.
  out = merge(in, -in, rank == ranks - 1)
  call MPI_BCAST(out, count, MPI_DOUBLE_PRECISION, ranks - 1, MPI_COMM_WORLD, ierror)
  if (any(out /= [(ranks - 1 + i, i=1, count)])) faults = faults + 1

  call MPI_REDUCE(in, out, count, MPI_DOUBLE_PRECISION, MPI_SUM, ranks - 1, MPI_COMM_WORLD, ierror)
  if (rank == ranks - 1 .and. any(out /= expected)) faults = faults + 1

  ! Blocks of n elements for every rank; block j of rank r begins with r + j n + 1.
  n = count/ranks
  exchanged = [((j + rank*n + i, i=1, n), j=0, ranks - 1)]
  call MPI_ALLTOALL(in, n, MPI_DOUBLE_PRECISION, out, n, MPI_DOUBLE_PRECISION, &
                    MPI_COMM_WORLD, ierror)
  if (any(out /= exchanged)) faults = faults + 1

  out = in
  call MPI_IALLTOALL(MPI_IN_PLACE, n, MPI_DOUBLE_PRECISION, out, n, MPI_DOUBLE_PRECISION, &
                     MPI_COMM_WORLD, request, ierror)
  call MPI_WAIT(request, MPI_STATUS_IGNORE, ierror)
  if (any(out /= exchanged)) faults = faults + 1

  counts = [(n, j=1, ranks)]
  offsets = [(j*n, j=0, ranks - 1)]
  call MPI_ALLTOALLV(in, counts, offsets, MPI_DOUBLE_PRECISION, out, counts, offsets, &
                     MPI_DOUBLE_PRECISION, MPI_COMM_WORLD, ierror)
  if (any(out /= exchanged)) faults = faults + 1

  call MPI_SCATTER(in, n, MPI_DOUBLE_PRECISION, out, n, MPI_DOUBLE_PRECISION, 0, &
                   MPI_COMM_WORLD, ierror)
  if (any(out(:n) /= [(rank*n + i, i=1, n)])) faults = faults + 1

  call MPI_GATHER(out, n, MPI_DOUBLE_PRECISION, exchanged, n, MPI_DOUBLE_PRECISION, 0, &
                  MPI_COMM_WORLD, ierror)
  if (rank == 0 .and. any(exchanged /= in)) faults = faults + 1

  if (faults /= 0) print *, 'rank', rank, ':', faults, 'results are wrong'
  call MPI_FINALIZE(ierror)
  if (faults /= 0) stop 1
end program fortran_mpi
