// A table as JSON: a list of values for each column.
#ifndef TORC_COMPILER_VIEW_COLUMNS_DATA_H_
#define TORC_COMPILER_VIEW_COLUMNS_DATA_H_

#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

namespace torc::compiler {

class ColumnsData {
 public:
  using Json = nlohmann::ordered_json;

  ColumnsData(std::initializer_list<const char*> names) {
    for (const char* name : names)
      columns_.emplace_back(name, Json::array());
  }

  /// A value for each column, in their order.
  void add(std::initializer_list<Json> row) {
    auto column = columns_.begin();
    for (const Json& value : row)
      (column++)->second.push_back(value);
  }
  /// Adds the columns to an object.
  void moveTo(Json& data) {
    for (auto& [name, values] : columns_)
      data[name] = std::move(values);
  }

 private:
  std::vector<std::pair<std::string, Json>> columns_;
};

}  // namespace torc::compiler

#endif  // TORC_COMPILER_VIEW_COLUMNS_DATA_H_
