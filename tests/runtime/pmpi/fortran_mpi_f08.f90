! Collectives by the module mpi_f08. Prints nothing when all is well.
program fortran_mpi_f08
  use mpi_f08
  implicit none
  integer, parameter :: count = 600
  integer :: rank, ranks, i, j, n, faults, position
  double precision :: in(count), out(count), expected(count)
  double precision :: exchanged(count)
  integer, allocatable :: counts(:), offsets(:)
  type(MPI_Request) :: requests(2), persistent
  type(MPI_Status) :: status
  type(MPI_Comm) :: half

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  in = [(rank + i, i=1, count)]
  expected = [(ranks*(ranks - 1)/2 + ranks*i, i=1, count)]
  faults = 0

  call MPI_Allreduce(in, out, count, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD)
  if (any(out /= expected)) faults = faults + 1

  out = in
  call MPI_Iallreduce(MPI_IN_PLACE, out, count, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, &
                      requests(1))
  call MPI_Ibarrier(MPI_COMM_WORLD, requests(2))
  call MPI_Waitany(2, requests, position, status)
  call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE)
  if (any(out /= expected)) faults = faults + 1

  call MPI_Allreduce_init(in, out, count, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, &
                          MPI_INFO_NULL, persistent)
  do i = 1, 3
    out = -1
    call MPI_Start(persistent)
    call MPI_Wait(persistent, MPI_STATUS_IGNORE)
    if (any(out /= expected)) faults = faults + 1
  end do
  call MPI_Request_free(persistent)

  call MPI_Comm_split(MPI_COMM_WORLD, rank/(ranks/2), rank, half)
  call MPI_Iallreduce(in, out, count, MPI_DOUBLE_PRECISION, MPI_MAX, half, requests(1))
  call MPI_Comm_free(half)
  call MPI_Wait(requests(1), status)
  if (any(out /= [((rank/(ranks/2) + 1)*(ranks/2) - 1 + i, i=1, count)])) faults = faults + 1

  ! Rooted calls, from and to the last rank.
  out = merge(in, -in, rank == ranks - 1)
  call MPI_Bcast(out, count, MPI_DOUBLE_PRECISION, ranks - 1, MPI_COMM_WORLD)
  if (any(out /= [(ranks - 1 + i, i=1, count)])) faults = faults + 1

  call MPI_Reduce(in, out, count, MPI_DOUBLE_PRECISION, MPI_SUM, ranks - 1, MPI_COMM_WORLD)
  if (rank == ranks - 1 .and. any(out /= expected)) faults = faults + 1

  ! Blocks of n elements for every rank; block j of rank r begins with r + j n + 1.
  n = count/ranks
  exchanged = [((j + rank*n + i, i=1, n), j=0, ranks - 1)]
  call MPI_Alltoall(in, n, MPI_DOUBLE_PRECISION, out, n, MPI_DOUBLE_PRECISION, MPI_COMM_WORLD)
  if (any(out /= exchanged)) faults = faults + 1

  out = in
  call MPI_Ialltoall(MPI_IN_PLACE, n, MPI_DOUBLE_PRECISION, out, n, MPI_DOUBLE_PRECISION, &
                     MPI_COMM_WORLD, requests(1))
  call MPI_Wait(requests(1), status)
  if (any(out /= exchanged)) faults = faults + 1

  counts = [(n, j=1, ranks)]
  offsets = [(j*n, j=0, ranks - 1)]
  call MPI_Alltoallv(in, counts, offsets, MPI_DOUBLE_PRECISION, out, counts, offsets, &
                     MPI_DOUBLE_PRECISION, MPI_COMM_WORLD)
  if (any(out /= exchanged)) faults = faults + 1

  call MPI_Scatter(in, n, MPI_DOUBLE_PRECISION, out, n, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD)
  if (any(out(:n) /= [(rank*n + i, i=1, n)])) faults = faults + 1

  call MPI_Gather(out, n, MPI_DOUBLE_PRECISION, exchanged, n, MPI_DOUBLE_PRECISION, 0, &
                  MPI_COMM_WORLD)
  if (rank == 0 .and. any(exchanged /= in)) faults = faults + 1

  if (faults /= 0) print *, 'rank', rank, ':', faults, 'results are wrong'
  call MPI_Finalize()
  if (faults /= 0) stop 1
end program fortran_mpi_f08
