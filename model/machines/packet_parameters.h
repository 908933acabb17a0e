// Parameters of the packet simulator: sizes and times of a router, of its FIFOs, and of its
// processor. The defaults describe Blue Gene/L.
#ifndef TORC_MODEL_MACHINES_PACKET_PARAMETERS_H_
#define TORC_MODEL_MACHINES_PACKET_PARAMETERS_H_

#include <cstdint>
#include <string>
#include <string_view>

#include <llvm/ADT/ArrayRef.h>
#include <llvm/ADT/StringRef.h>
#include <llvm/Support/Error.h>

namespace torc::model {

/// Bytes, nanoseconds, counts. Every one has a row in `packetParameterRows`, with its source.
struct PacketParameters {
  // Packets.
  double chunk = 32;    // bytes: unit of packet sizes and tokens
  double packet = 256;  // bytes of the largest
  double header = 16;   // bytes of every packet that are not payload
  double wire = 16;     // bytes that a packet costs its link besides itself

  // Routers.
  double channel = 1024;     // bytes of a virtual channel's buffer
  double bubble = 256;       // bytes that must stay free in a ring of the bubble channel
  double escape = 512;       // bytes, where an adaptive packet enters it
  double crossbar = 2;       // packets that leave one input at a time
  double inject_every = 28;  // packets on a link, of which one is injected first
  double tokens = 70;        // ns until freed room is known upstream
  double adaptive = 1;       // packets of a schedule choose their dimensions' order; 0: X first

  // FIFOs.
  double injection_fifos = 6;  // of a node: one for each direction, else phases share them
  double injection = 768;      // bytes of each
  double reception = 1024;     // bytes of each; there is one for every direction

  // The processor.
  double send = 120;             // ns: to inject a packet
  double send_byte = 1.0486;     // ns: for each of its bytes
  double receive = 120;          // ns: to take up a packet
  double receive_byte = 1.0486;  // ns: for each of its bytes
  double forward = 155.7;        // ns: to forward a packet for another node, besides both
  double forward_byte = 1.957;   // ns: for each of its bytes

  // Messages.
  double alpha = 643;           // ns: start-up of a destination in an all-to-all of packets
  double software_header = 48;  // bytes of its first packet that are not payload, `header` included
  double smallest = 64;         // bytes of the smallest packet of an all-to-all
  double message_alpha = 1671;  // ns: start-up of a message, by the processor
  double message_header = 8;    // bytes of each block in a combined message
  double copy_byte = 1.6;       // ns: for each byte copied from message to message
  double burst = 1;             // packets to a destination before the next one's turn
  double credit_every = 0;      // packets that a node forwards for each credit; 0: no credits
  double credit_window = 0;     // most packets of a source at a node

  bool operator==(const PacketParameters&) const = default;
};

/// One parameter: its name in settings, unit, and the source of its value for Blue Gene/L.
struct PacketParameterRow {
  std::string_view name;
  double PacketParameters::*member;
  std::string_view unit;
  std::string_view meaning;
  std::string_view source;
};
llvm::ArrayRef<PacketParameterRow> packetParameterRows();

/// "channel=2048,bubble=512": changes the named parameters. Errors name the setting and its value.
llvm::Error applyPacketSettings(llvm::StringRef settings, PacketParameters& parameters);

/// Rejects values unfit for a router: sizes that deadlock it, or that are no multiples.
llvm::Error checkPacketParameters(const PacketParameters& parameters);

/// "64", not "64.000000".
std::string numberText(double value);

}  // namespace torc::model

#endif  // TORC_MODEL_MACHINES_PACKET_PARAMETERS_H_
