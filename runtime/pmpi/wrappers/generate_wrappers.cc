// Generates the wrappers that replace MPI_COMM_WORLD in the program by another communicator
// (runtime/dedicated/program_world.h), from the functions that MPI's headers declare:
//
//   generate_wrappers names|functions HEADER... > FILE
//   generate_wrappers waits TABLE HEADER... > FILE
//
// For each function with a communicator among its arguments, `functions` writes
//   MPI_Send(..., comm)       for the program: calls next_MPI_Send with the intended communicator
//   next_MPI_Send(..., comm)  MPI's own, PMPI_Send
// both weak: a function that is written by hand replaces either. `names` writes the header that
// renames such functions to the second name, so that none of them has to translate. `waits` writes
// the wrappers of the functions in a table (waiting_calls.txt), which may wait for calls of other
// ranks.
#include <cctype>
#include <fstream>
#include <iostream>
#include <iterator>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace {

struct Function {
  std::string name;
  std::string parameters;              // as declared
  std::vector<std::string> arguments;  // by name
  std::set<std::string> communicators;
  std::string meeting;  // for the ranks of its window or file
};

/// The text without comments and preprocessor lines. Adds the names of macros to `macros`: Open MPI
/// has macros for removed functions.
std::string declarationsIn(std::string text, std::set<std::string>& macros) {
  // Not by an expression: std::regex recurses for each letter.
  for (std::size_t at = 0; (at = text.find("/*", at)) != std::string::npos;)
    text.erase(at, text.find("*/", at) + 2 - at);
  static const std::regex directive("\\s*#\\s*(?:define\\s+(\\w+))?.*"), line_comment("//.*");
  std::istringstream lines(text);
  std::string kept;
  bool is_directive = false;
  for (std::string line; std::getline(lines, line); is_directive &= line.ends_with('\\')) {
    std::smatch name;
    is_directive |= std::regex_match(line, name, directive);
    if (name[1].matched) macros.insert(name[1]);
    if (!is_directive) kept += std::regex_replace(line, line_comment, "") + '\n';
  }
  return kept;
}

/// Adds a parameter such as `const int counts[]`.
void addParameter(Function& function, const std::string& parameter) {
  static const std::regex parts("\\s*(.*?)\\s*(\\*?)\\s*(\\w+)\\W*");
  std::smatch found;
  std::regex_match(parameter, found, parts);
  const std::string type = found[1], name = found[3];
  const bool is_pointer = found[2].length() > 0;
  function.arguments.push_back(name);
  if (type == "MPI_Comm" && !is_pointer) function.communicators.insert(name);
  if (type != "MPI_Win" && type != "MPI_File") return;
  const std::string meets = type == "MPI_Win" ? "meetWindow(" : "meetFile(";
  function.meeting = meets + (is_pointer ? "" : "&") + name + ");";
}

/// Functions that return int and have a PMPI form: no callbacks such as MPI_DUP_FN. A parameter
/// that is itself a function has parentheses; MPI has types for these.
std::vector<Function> functionsIn(const std::string& text) {
  static const std::regex declaration("\\bint (MPI\\w+)\\s*\\(\\s*([^()]*?)\\s*\\)");
  std::vector<Function> functions;
  for (auto at = std::sregex_iterator(text.begin(), text.end(), declaration);
       at != std::sregex_iterator(); ++at) {
    Function function{(*at)[1], (*at)[2], {}, {}, {}};
    if (text.find("int P" + function.name + "(") == std::string::npos) continue;
    std::istringstream parameters(function.parameters);
    for (std::string parameter; std::getline(parameters, parameter, ',');)
      addParameter(function, parameter);
    functions.push_back(std::move(function));
  }
  return functions;
}

void writeFunction(const Function& function) {
  const auto write = [&](const std::string& name, const std::string& called, bool translates) {
    std::cout << "[[gnu::weak]] int " << name << "(" << function.parameters << ") {\n  return "
              << called << "(";
    const char* separator = "";
    for (const std::string& argument : function.arguments) {
      const bool is_translated = translates && function.communicators.contains(argument);
      std::cout << separator << (is_translated ? "actual(" + argument + ")" : argument);
      separator = ", ";
    }
    std::cout << ");\n}\n";
  };
  const std::string next = "next_" + function.name;
  std::cout << "int " << next << "(" << function.parameters << ");\n";
  write(next, "P" + function.name, false);
  write(function.name, next, true);
}

std::string argumentsOf(const Function& function) {
  std::string list;
  for (const std::string& argument : function.arguments)
    list += (list.empty() ? "" : ", ") + argument;
  return list;
}

/// Arguments after the call itself: those that a function of waiting.h has for `kind`.
std::string furtherArguments(const Function& function, const std::string& kind) {
  if (kind == "send") {
    std::string started = function.name;
    started[4] = static_cast<char>(std::tolower(started[4]));
    return ", [&](MPI_Request* request) { return PMPI_I" + started.substr(4) + "(" +
           argumentsOf(function) + ", request); }";
  }
  std::string list;
  bool is_before = true;  // before the communicator
  for (const std::string& argument : function.arguments) {
    const bool is_over = function.communicators == std::set{argument};
    const bool is_result = &argument == &function.arguments.back();
    const bool is_found = argument == "flag" || argument == "outcount";
    if (kind == "receive"                      ? is_before
        : kind == "create"                     ? is_over || is_result
        : kind == "look" || kind == "complete" ? is_found
                                               : is_over) {
      list += ", " + argument;
    }
    is_before = is_before && !is_over;
  }
  return list;
}

/// Writes wrappers for the names in the table, also with MPI_Count. Returns the first name that no
/// header has.
std::string writeWaits(std::istream& table, const std::vector<Function>& functions) {
  std::cout << "#include \"runtime/pmpi/wrappers/next_layer.h\"\n"
               "#include \"runtime/pmpi/wrappers/waiting.h\"\n\n"
               "namespace torc::runtime::pmpi {\nextern \"C\" {\n";
  for (std::string line; std::getline(table, line);) {
    std::string name, kind;
    std::istringstream(line) >> name >> kind;
    if (name.empty() || name.starts_with('#')) continue;
    bool is_there = false;
    for (const Function& function : functions) {
      if (function.name != name && function.name != name + "_c") continue;
      is_there = true;
      std::cout << "int " << function.name << "(" << function.parameters << ") {\n  ";
      // Over its communicator, if it has one.
      if (kind == "all" && function.communicators.empty()) std::cout << function.meeting << "\n  ";
      std::cout << "return " << (kind.empty() || kind == "all" ? "makeInside" : kind)
                << "([&] { return P" << function.name << "(" << argumentsOf(function) << "); }"
                << furtherArguments(function, kind) << ");\n}\n";
    }
    if (!is_there) return name;
  }
  std::cout << "}  // extern \"C\"\n}  // namespace torc::runtime::pmpi\n";
  return {};
}

}  // namespace

int main(int count, char** arguments) {
  const std::string_view what = count > 1 ? arguments[1] : "";
  const bool has_table = what == "waits" && count > 2;
  std::set<std::string> seen;  // functions and macros
  std::vector<Function> functions;
  std::string text;
  for (int i = has_table ? 3 : 2; i < count; ++i) {
    std::ifstream file(arguments[i]);
    if (!file) {
      std::cerr << "generate_wrappers: cannot read " << arguments[i] << '\n';
      return 1;
    }
    text += declarationsIn(std::string(std::istreambuf_iterator<char>(file), {}), seen);
  }
  for (Function& function : functionsIn(text)) {
    if (seen.insert(function.name).second) functions.push_back(std::move(function));
  }
  if (has_table) {
    std::ifstream table(arguments[2]);
    const std::string missing = writeWaits(table, functions);
    if (!missing.empty()) std::cerr << arguments[2] << ": no header declares " << missing << '\n';
    return missing.empty() ? 0 : 1;
  }
  std::erase_if(functions, [](const Function& function) { return function.communicators.empty(); });
  if (functions.empty() || (what != "names" && what != "functions")) {
    std::cerr << "usage: generate_wrappers names|functions|waits TABLE HEADER...\n"
                 "MPI's headers declare no function with a communicator\n";
    return 1;
  }
  std::cout << "// Generated by runtime/pmpi/wrappers/generate_wrappers.cc from MPI's headers: "
            << functions.size() << " functions.\n";
  if (what == "names") {
    for (const Function& function : functions)
      std::cout << "#define " << function.name << " next_" << function.name << '\n';
    std::cout << "#include <mpi.h>\n";
    return 0;
  }
  std::cout << "#include <mpi.h>\n#ifdef OPEN_MPI\n#include <mpi-ext.h>\n#endif\n\n"
               "#include \"runtime/dedicated/program_world.h\"\n\nusing "
               "torc::runtime::dedicated::actual;\n\n"
               "#pragma GCC diagnostic ignored \"-Wdeprecated-declarations\"\n\nextern \"C\" {\n";
  for (const Function& function : functions)
    writeFunction(function);
  std::cout << "}  // extern \"C\"\n";
  return 0;
}
