#include <memory>
#include <sched.h>
#include <string>

#include "tests/runtime/pmpi/mpi_calls/memory.h"
#include "tests/runtime/pmpi/programs/activities/mpis_own.h"
#include "tests/runtime/pmpi/programs/activities/record.h"

namespace programs {
namespace {

enum class Way {
  kSendrecv,
  kSend,
  kIsend,
  kIssend,
  kPersistent,
  kReplace,
  kProbe,
  kIprobe,
  kMprobe,
  kCount,
};

/// The atoms of the data that `key` stands for.
auto valuesOf(uint64_t key) {
  return [key](int64_t atom) { return static_cast<int64_t>(mix(key + atom)); };
}

class Message : public Activity {
 public:
  /// `key`: what the data are; sent, or to be received from `source`.
  Message(int number, const Layout& layout, int64_t elements, uint64_t key, bool is_sent,
          int source, int tag)
      : Activity(number),
        is_sent_(is_sent),
        source_(source),
        tag_(tag),
        elements_(elements),
        memory_(layout.lowest, elements * layout.extent + layout.highest),
        type_(layout.make()),
        frees_type_(!layout.is_predefined) {
    memory_.fill(mix(key, is_sent));
    if (is_sent)
      memory_.put(layout, 0, elements, valuesOf(key));
    else
      memory_.expect(layout, 0, elements, valuesOf(key));
  }
  ~Message() override {
    if (frees_type_) MPI_Type_free(&type_);
  }

  /// Sends what it holds, and expects in its place what `key` stands for.
  void expectInPlace(const Layout& layout, uint64_t key) {
    memory_.expect(layout, 0, elements_, valuesOf(key));
  }
  void makePersistent() { is_persistent_ = true; }

  void* address() { return memory_.address(); }
  int count() const { return static_cast<int>(elements_); }
  MPI_Datatype type() const { return type_; }

  void finish() override {
    const int64_t at = memory_.firstDifference();
    if (at != Memory::kNowhere)
      fail(number(), describe() + " is wrong at byte " + std::to_string(at));
    addHash(number(), memory_.hash());
    if (is_persistent_) check(MPI_Request_free(&request), number(), "MPI_Request_free");
  }
  void checkStatus(const MPI_Status& status) const override {
    if (is_sent_) return;
    int count = 0;
    MPI_Get_count(&status, type_, &count);
    if (status.MPI_SOURCE != source_ || status.MPI_TAG != tag_ || count != elements_)
      fail(number(), describe() + ": its status says rank " + std::to_string(status.MPI_SOURCE) +
                         ", tag " + std::to_string(status.MPI_TAG) + ", " + std::to_string(count) +
                         " elements");
  }
  bool isPersistent() const override { return is_persistent_; }
  std::string describe() const override {
    return std::string(is_sent_ ? "a message sent" : "a message received") + ", " +
           std::to_string(elements_) + " elements from rank " + std::to_string(source_) +
           " with tag " + std::to_string(tag_);
  }

 private:
  const bool is_sent_;
  const int source_, tag_;
  bool is_persistent_ = false;
  int64_t elements_;
  Memory memory_;
  MPI_Datatype type_;
  bool frees_type_;
};

/// One rank's part: to the next rank and from the previous one.
class Exchange {
 public:
  Exchange(const Communicator& communicator, int number, int tag, uint64_t key)
      : comm_(communicator.handle), number_(number), sent_tag_(tag) {
    const int size = communicator.size(), rank = communicator.rank;
    next_ = (rank + 1) % size;
    // Messages from one rank come in order, and there is only one that sends: any may be asked for.
    Random local(mix(key, rank));
    source_ = local.chance(30) ? MPI_ANY_SOURCE : (rank + size - 1) % size;
    tag_ = local.chance(30) ? MPI_ANY_TAG : tag;
  }

  void run(Way way, std::unique_ptr<Message> sent, std::unique_ptr<Message> received,
           Pending& pending) {
    switch (way) {
      case Way::kSendrecv: {
        MPI_Status status;
        check(MPI_Sendrecv(sent->address(), sent->count(), sent->type(), next_, sent_tag_,
                           received->address(), received->count(), received->type(), source_, tag_,
                           comm_, &status),
              number_, "MPI_Sendrecv");
        sent->finish();
        complete(*received, status);
        return;
      }
      case Way::kReplace: {
        MPI_Status status;
        check(MPI_Sendrecv_replace(sent->address(), sent->count(), sent->type(), next_, sent_tag_,
                                   source_, tag_, comm_, &status),
              number_, "MPI_Sendrecv_replace");
        received->checkStatus(status);
        sent->finish();
        return;
      }
      case Way::kProbe:
      case Way::kIprobe:
      case Way::kMprobe:
        send(MPI_Isend, std::move(sent), pending);
        receiveProbed(way, std::move(received), pending);
        return;
      case Way::kPersistent:
        startPersistent(*sent, *received);
        pending.add(std::move(sent));
        break;
      default:
        check(MPI_Irecv(received->address(), received->count(), received->type(), source_, tag_,
                        comm_, &received->request),
              number_, "MPI_Irecv");
        if (way == Way::kSend) {
          check(MPI_Send(sent->address(), sent->count(), sent->type(), next_, sent_tag_, comm_),
                number_, "MPI_Send");
          sent->finish();
        } else {
          send(way == Way::kIsend ? MPI_Isend : MPI_Issend, std::move(sent), pending);
        }
    }
    pending.add(std::move(received));
  }

 private:
  template <typename Send>
  void send(Send start, std::unique_ptr<Message> sent, Pending& pending) {
    check(start(sent->address(), sent->count(), sent->type(), next_, sent_tag_, comm_,
                &sent->request),
          number_, "MPI_Isend or MPI_Issend");
    pending.add(std::move(sent));
  }

  void startPersistent(Message& sent, Message& received) {
    check(MPI_Recv_init(received.address(), received.count(), received.type(), source_, tag_, comm_,
                        &received.request),
          number_, "MPI_Recv_init");
    check(MPI_Send_init(sent.address(), sent.count(), sent.type(), next_, sent_tag_, comm_,
                        &sent.request),
          number_, "MPI_Send_init");
    MPI_Request requests[2] = {received.request, sent.request};
    check(MPI_Startall(2, requests), number_, "MPI_Startall");
    sent.makePersistent();
    received.makePersistent();
  }

  void receiveProbed(Way way, std::unique_ptr<Message> received, Pending& pending) {
    MPI_Status status;
    MPI_Message message = MPI_MESSAGE_NULL;
    int flag = 0;
    if (way == Way::kMprobe)
      check(MPI_Mprobe(source_, tag_, comm_, &message, &status), number_, "MPI_Mprobe");
    if (way == Way::kProbe) check(MPI_Probe(source_, tag_, comm_, &status), number_, "MPI_Probe");
    while (way == Way::kIprobe && !flag) {
      check(MPI_Iprobe(source_, tag_, comm_, &flag, &status), number_, "MPI_Iprobe");
      if (!flag) sched_yield();
    }
    received->checkStatus(status);
    if (way == Way::kMprobe) {
      check(MPI_Imrecv(received->address(), received->count(), received->type(), &message,
                       &received->request),
            number_, "MPI_Imrecv");
      pending.add(std::move(received));
      return;
    }
    check(MPI_Recv(received->address(), received->count(), received->type(), status.MPI_SOURCE,
                   status.MPI_TAG, comm_, &status),
          number_, "MPI_Recv");
    complete(*received, status);
  }

  static void complete(Message& received, const MPI_Status& status) {
    received.checkStatus(status);
    received.finish();
  }

  const MPI_Comm comm_;
  const int number_, sent_tag_;
  int next_, source_, tag_;
};

}  // namespace

void exchangeMessages(Random& common, const Communicator& communicator, int number,
                      Pending& pending) {
  const std::vector<Layout> spellings = drawSpellings(common);
  const Layout& layout = spellings.front();
  // Small ones are on their way at once; others wait for their receiver.
  const int elements = common.chance(85) ? common.below(300) : common.between(20000, 40000);
  const uint64_t key = common.next();
  Way way = static_cast<Way>(common.below(static_cast<int>(Way::kCount)));
  // MPICH 4.0.2's MPI_Sendrecv_replace truncates long messages that it packs.
  if (way == Way::kReplace && elements > 300) way = Way::kSendrecv;
  const int tag = common.below(1000);
  if (!communicator.hasMe()) return;
  const int size = communicator.size(), rank = communicator.rank;
  const int previous = (rank + size - 1) % size;
  const uint64_t sent_key = mix(key, communicator.members[rank]);
  const uint64_t received_key = mix(key, communicator.members[previous]);
  auto sent = std::make_unique<Message>(number, layout, elements, sent_key, true, rank, tag);
  auto received =
      std::make_unique<Message>(number, layout, elements, received_key, false, previous, tag);
  if (way == Way::kReplace) sent->expectInPlace(layout, received_key);
  Exchange(communicator, number, tag, key).run(way, std::move(sent), std::move(received), pending);
}

}  // namespace programs
