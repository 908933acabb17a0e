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
#include <algorithm>
#include <cctype>
#include <fstream>
#include <iostream>
#include <iterator>
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

bool isNamePart(char letter) {
  return std::isalnum(static_cast<unsigned char>(letter)) || letter == '_';
}

/// From a line `# define NAME ...`; other lines add nothing.
void addMacro(const std::string& line, std::set<std::string>& macros) {
  constexpr std::string_view kDefine = "define";
  std::size_t begin = line.find(kDefine);
  if (begin == std::string::npos) return;
  begin = line.find_first_not_of(" \t", begin + kDefine.size());
  if (begin == std::string::npos) return;
  std::size_t end = begin;
  while (end < line.size() && isNamePart(line[end]))
    ++end;
  macros.insert(line.substr(begin, end - begin));
}

/// The text without comments and preprocessor lines. Adds the names of macros to `macros`: Open MPI
/// has macros for removed functions.
std::string declarationsIn(const std::string& text, std::set<std::string>& macros) {
  std::string kept;
  bool begins_line = true;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text.compare(i, 2, "/*") == 0) {
      i = text.find("*/", i + 2) + 1;
    } else if (text.compare(i, 2, "//") == 0 || (begins_line && text[i] == '#')) {
      const std::size_t begin = i;
      while (i + 1 < text.size() && (text[i + 1] != '\n' || text[i] == '\\'))
        ++i;
      addMacro(text.substr(begin, i + 1 - begin), macros);
    } else {
      kept += text[i];
      if (!std::isspace(static_cast<unsigned char>(text[i])) || text[i] == '\n') {
        begins_line = text[i] == '\n';
      }
    }
  }
  return kept;
}

std::string trimmed(std::string_view text) {
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.front())))
    text.remove_prefix(1);
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back())))
    text.remove_suffix(1);
  return std::string(text);
}

/// A parameter such as `const int counts[]`.
void addParameter(Function& function, const std::string& parameter) {
  std::size_t end = parameter.find('[');
  if (end == std::string::npos) end = parameter.size();
  while (end > 0 && !isNamePart(parameter[end - 1]))
    --end;
  std::size_t begin = end;
  while (begin > 0 && isNamePart(parameter[begin - 1]))
    --begin;
  const std::string name = parameter.substr(begin, end - begin);
  function.arguments.push_back(name);
  std::string type = trimmed(parameter.substr(0, begin));
  if (type == "MPI_Comm") function.communicators.insert(name);
  const bool is_pointer = type.ends_with('*');
  if (is_pointer) type = trimmed(type.substr(0, type.size() - 1));
  if (type != "MPI_Win" && type != "MPI_File") return;
  const std::string meets = type == "MPI_Win" ? "meetWindow(" : "meetFile(";
  function.meeting = meets + (is_pointer ? "" : "&") + name + ");";
}

/// The declaration `int NAME(PARAMETERS)` whose name begins at `begin`; without arguments if it is
/// none.
Function readFunction(const std::string& text, std::size_t begin) {
  Function function;
  std::size_t at = begin;
  while (isNamePart(text[at]))
    function.name += text[at++];
  while (std::isspace(static_cast<unsigned char>(text[at])))
    ++at;
  if (text[at] != '(') return function;
  const std::size_t end = text.find(')', at);
  function.parameters = trimmed(text.substr(at + 1, end - at - 1));
  // A parameter that is itself a function has parentheses; MPI has types for these.
  if (function.parameters.find('(') != std::string::npos) return function;
  for (std::size_t first = 0; first < function.parameters.size();) {
    const std::size_t comma =
        std::min(function.parameters.find(',', first), function.parameters.size());
    addParameter(function, trimmed(function.parameters.substr(first, comma - first)));
    first = comma + 1;
  }
  return function;
}

/// Functions that return int and have a PMPI form: no callbacks such as MPI_DUP_FN.
std::vector<Function> functionsIn(const std::string& text) {
  std::vector<Function> functions;
  for (std::size_t at = text.find("int MPI"); at != std::string::npos;
       at = text.find("int MPI", at + 1)) {
    if (at > 0 && isNamePart(text[at - 1])) continue;
    Function function = readFunction(text, at + 4);
    const bool has_own = text.find("int P" + function.name + "(") != std::string::npos;
    if (has_own) functions.push_back(std::move(function));
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
