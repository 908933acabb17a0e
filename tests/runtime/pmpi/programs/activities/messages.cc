#include "tests/runtime/pmpi/programs/activities/messages.h"

#include <memory>
#include <string>

#include "tests/runtime/pmpi/programs/calls/memory.h"
#include "tests/runtime/pmpi/programs/record.h"

namespace programs {
namespace {

class Message : public Activity {
 public:
  /// `key`: what the data are; sent, or to be received.
  Message(int number, const char* name, const Layout& layout, int64_t elements, uint64_t key,
          bool is_sent)
      : Activity(number),
        name_(name),
        elements_(elements),
        memory_(layout.lowest, elements * layout.extent + layout.highest),
        type_(layout.make()),
        frees_type_(!layout.isPredefined()) {
    memory_.fill(mix(key, is_sent));
    const auto value = [key](int64_t atom) { return static_cast<int64_t>(mix(key + atom)); };
    if (is_sent)
      memory_.put(layout, 0, elements, value);
    else
      memory_.expect(layout, 0, elements, value);
  }
  ~Message() override {
    if (frees_type_) MPI_Type_free(&type_);
  }

  void* address() { return memory_.address(); }
  int count() const { return static_cast<int>(elements_); }
  MPI_Datatype type() const { return type_; }

  void finish() override {
    const int64_t at = memory_.firstDifference();
    if (at != Memory::kNowhere)
      fail(number(), describe() + " is wrong at byte " + std::to_string(at));
    record().hash += mix(record().program, number(), memory_.hash());
  }
  std::string describe() const override {
    return std::string("the buffer of ") + name_ + "(" + std::to_string(elements_) + ")";
  }

 private:
  const char* name_;
  int64_t elements_;
  Memory memory_;
  MPI_Datatype type_;
  bool frees_type_;
};

}  // namespace

void exchangeMessages(Random& common, const Communicator& communicator, int number,
                      Pending& pending) {
  const std::vector<Layout> spellings = drawSpellings(common);
  const Layout& layout = spellings.front();
  // Small ones are on their way at once; others wait for their receiver.
  const int elements = common.chance(85) ? common.below(300) : common.between(20000, 40000);
  const uint64_t key = common.next();
  const int way = common.below(4);
  const int tag = common.below(1000);
  if (!communicator.hasMe()) return;
  const int size = communicator.size(), rank = communicator.rank;
  const int next = (rank + 1) % size, previous = (rank + size - 1) % size;
  auto sent = std::make_unique<Message>(number, "MPI_Send", layout, elements,
                                        mix(key, communicator.members[rank]), true);
  auto received = std::make_unique<Message>(number, "MPI_Recv", layout, elements,
                                            mix(key, communicator.members[previous]), false);
  const MPI_Comm comm = communicator.handle;
  if (way == 0) {
    check(MPI_Sendrecv(sent->address(), sent->count(), sent->type(), next, tag, received->address(),
                       received->count(), received->type(), previous, tag, comm, MPI_STATUS_IGNORE),
          number, "MPI_Sendrecv");
    sent->finish();
    received->finish();
    return;
  }
  check(MPI_Irecv(received->address(), received->count(), received->type(), previous, tag, comm,
                  &received->request),
        number, "MPI_Irecv");
  if (way == 1) {
    check(MPI_Send(sent->address(), sent->count(), sent->type(), next, tag, comm), number,
          "MPI_Send");
    sent->finish();
  } else {
    check(MPI_Isend(sent->address(), sent->count(), sent->type(), next, tag, comm, &sent->request),
          number, "MPI_Isend");
    pending.add(std::move(sent));
  }
  pending.add(std::move(received));
}

}  // namespace programs
