#include "model/machines/packet_parameters.h"

#include <cmath>
#include <utility>

#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/StringExtras.h>
#include <llvm/Support/raw_ostream.h>

#include "ir/make_error.h"

namespace torc::model {
namespace {

using P = PacketParameters;

constexpr std::string_view kAdiga = "Adiga et al., IBM J. Res. Dev. 49, 2005";
constexpr std::string_view kModel = "Kumar and Heidelberger, section 2.1";
constexpr std::string_view kDirect = "Kumar and Heidelberger, section 3";
constexpr std::string_view kMesh = "Kumar and Heidelberger, section 4.2";
constexpr std::string_view kCopyCost =
    "set by two published values of 8x8x8: tables 3 and 4, two-phase, long and of one byte";
constexpr std::string_view kPacketCost =
    "four links busy with packets of 256 bytes (section 2); 0.52 ms for one byte on 8x8x8 (table "
    "4)";

constexpr PacketParameterRow kRows[] = {
    {"chunk", &P::chunk, "bytes", "unit of packets and tokens", kAdiga},
    {"packet", &P::packet, "bytes", "largest packet", kAdiga},
    {"header", &P::header, "bytes", "of every packet that are not payload",
     "Kumar and Heidelberger, section 3: 240 of 256 bytes are payload"},
    {"wire", &P::wire, "bytes", "that a packet costs its link besides itself",
     "from 6.48 ns a payload byte (section 3) at 175 MB/s: 272 bytes for 240"},
    {"channel", &P::channel, "bytes", "buffer of a virtual channel at an input", kAdiga},
    {"bubble", &P::bubble, "bytes",
     "free besides a deterministic packet that enters a ring of the bubble channel",
     "the bubble rule: one largest packet"},
    {"escape", &P::escape, "bytes", "the same for an adaptive packet",
     "set by table 2: two largest packets; the bubble rule needs one"},
    {"crossbar", &P::crossbar, "packets", "that leave one input at a time",
     "estimate: a crossbar of two ports an input"},
    {"inject-every", &P::inject_every, "packets",
     "on a link, of which one is injected before those in the network",
     "set by table 2: 8x16 and 8x16x16"},
    {"tokens", &P::tokens, "ns", "until room that became free is known upstream",
     "estimate: less than the way of a packet's first chunk, the preset's 100 ns a hop"},
    {"adaptive", &P::adaptive, "1 or 0",
     "packets of a schedule choose the order of their dimensions; 0: X first", kAdiga},
    {"injection-fifos", &P::injection_fifos, "FIFOs",
     "of a node: one for each direction, else phases share them out",
     "estimate: six of normal priority"},
    {"injection", &P::injection, "bytes", "of an injection FIFO",
     "set by table 2, 8x8x2m: three largest packets"},
    {"reception", &P::reception, "bytes", "of the reception FIFO of one direction",
     "estimate: four largest packets"},
    {"send", &P::send, "ns", "to inject a packet", kPacketCost},
    {"send-byte", &P::send_byte, "ns", "to inject a byte of it", kPacketCost},
    {"receive", &P::receive, "ns", "to take up a packet", kPacketCost},
    {"receive-byte", &P::receive_byte, "ns", "to take up a byte of it", kPacketCost},
    {"forward", &P::forward, "ns", "more, to send on a packet that came for another node",
     kCopyCost},
    {"forward-byte", &P::forward_byte, "ns", "more, for a byte of it", kCopyCost},
    {"alpha", &P::alpha, "ns", "start-up of each destination, all-to-all of packets", kDirect},
    {"software-header", &P::software_header, "bytes",
     "of the first packet to a destination, `header` included", kDirect},
    {"smallest", &P::smallest, "bytes", "smallest packet of the all-to-all of packets", kDirect},
    {"message-alpha", &P::message_alpha, "ns", "start-up of a message", kMesh},
    {"message-header", &P::message_header, "bytes", "of each block in a combined message", kMesh},
    {"copy-byte", &P::copy_byte, "ns", "to copy a byte from message to message", kMesh},
    {"burst", &P::burst, "packets", "to a destination before the next one's turn",
     "Kumar and Heidelberger, section 3: 1 or 2"},
    {"credit-every", &P::credit_every, "packets",
     "that a node of two phases sends on before one chunk goes back as credit; 0: no credits",
     "none were measured; Kumar and Heidelberger, section 5: for example ten"},
    {"credit-window", &P::credit_window, "packets",
     "to be sent on that a node holds of another one, which waits for credit",
     "none were measured; the space of section 5"},
};

}  // namespace

std::string numberText(double value) {
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format("%g", value);
  return text;
}

llvm::ArrayRef<PacketParameterRow> packetParameterRows() {
  return kRows;
}

llvm::Error applyPacketSettings(llvm::StringRef settings, PacketParameters& parameters) {
  while (!settings.empty()) {
    const auto [setting, rest] = settings.split(',');
    const auto [name, value] = setting.split('=');
    const auto* row = llvm::find_if(kRows, [name = name](const PacketParameterRow& it) {
      return name == llvm::StringRef(it.name);
    });
    if (row == std::end(kRows)) return makeError("packet setting '" + name + "': there is none");
    double number = 0;
    if (value.getAsDouble(number) || !std::isfinite(number) || number < 0 || number > 1e9) {
      return makeError("packet setting '" + setting + "': " + name + " is a number from 0 to 1e9");
    }
    parameters.*(row->member) = number;
    settings = rest;
  }
  return llvm::Error::success();
}

llvm::Error checkPacketParameters(const PacketParameters& p) {
  const auto whole = [](double value, double unit) { return std::fmod(value, unit) == 0; };
  const auto within = [&](double value, double least, double most) {
    return value >= least && value <= most && whole(value, 1);
  };
  std::string fault;  // the first
  const auto check = [&](bool is_right, const llvm::Twine& otherwise) {
    if (!is_right && fault.empty()) fault = ("packet setting" + otherwise).str();
  };
  const std::string packet = numberText(p.packet);
  check(p.chunk >= 1 && whole(p.chunk, 1),
        " chunk: whole bytes, at least 1, not " + numberText(p.chunk));
  const struct {
    std::string_view name;
    double value;
  } sizes[] = {{"packet", p.packet},    {"channel", p.channel},     {"bubble", p.bubble},
               {"escape", p.escape},    {"injection", p.injection}, {"reception", p.reception},
               {"smallest", p.smallest}};
  for (const auto& size : sizes) {
    check(whole(size.value, p.chunk),
          " " + llvm::StringRef(size.name) + ": " + numberText(size.value) +
              " bytes are no multiple of a chunk of " + numberText(p.chunk));
  }
  check(p.packet >= p.chunk && p.packet <= 255 * p.chunk,
        " packet: 1 to 255 chunks, not " + numberText(p.packet / p.chunk));
  check(p.header < p.packet,
        " header: " + numberText(p.header) + " bytes leave a packet of " + packet + " no payload");
  check(p.smallest <= p.packet && p.software_header < p.packet && p.software_header >= p.header,
        "s smallest and software-header: at most a packet of " + packet +
            " bytes with payload, and at least its header");
  check(p.channel >= p.packet, " channel: a buffer of " + numberText(p.channel) +
                                   " bytes never holds a packet of " + packet);
  for (const auto& [name, bytes] : {std::pair("bubble", p.bubble), std::pair("escape", p.escape)}) {
    check(bytes >= p.packet, " " + llvm::StringRef(name) + ": " + numberText(bytes) +
                                 " bytes deadlock: less than a packet of " + packet);
    check(p.channel >= p.packet + bytes, " channel: " + numberText(p.channel) +
                                             " bytes hold no packet of " + packet + " and " +
                                             numberText(bytes) + " more (" + name + ")");
  }
  check(p.injection >= p.packet && p.reception >= p.packet,
        " " + llvm::StringRef(p.injection < p.packet ? "injection" : "reception") + ": a FIFO of " +
            numberText(std::min(p.injection, p.reception)) + " bytes never holds a packet of " +
            packet);
  check(std::max({p.channel, p.injection, p.reception}) / p.chunk <= 30000,
        "s channel, injection and reception: at most 30000 chunks");
  check(within(p.injection_fifos, 2, 8),
        " injection-fifos: 2 to 8, not " + numberText(p.injection_fifos));
  check(within(p.crossbar, 1, 8), " crossbar: 1 to 8, not " + numberText(p.crossbar));
  check(within(p.inject_every, 1, 255),
        " inject-every: 1 to 255, not " + numberText(p.inject_every));
  check(p.burst >= 1 && whole(p.burst, 1),
        " burst: whole packets, at least 1, not " + numberText(p.burst));
  check(whole(p.credit_every, 1) && whole(p.credit_window, 1) && p.credit_every <= 60000 &&
            p.credit_window <= 60000,
        "s credit-every and credit-window: 0 to 60000 whole packets");
  check(p.credit_every == 0 || p.credit_window >= p.credit_every,
        " credit-window: " + numberText(p.credit_window) + " packets deadlock: credit comes for " +
            numberText(p.credit_every));
  return fault.empty() ? llvm::Error::success() : makeError(fault);
}

}  // namespace torc::model
