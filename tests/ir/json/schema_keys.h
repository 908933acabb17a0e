// Keys of a JSON schema and of a document, for comparison.
#ifndef TORC_TESTS_IR_JSON_SCHEMA_KEYS_H_
#define TORC_TESTS_IR_JSON_SCHEMA_KEYS_H_

#include <fstream>
#include <set>
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace torc::schemas {

using Keys = std::set<std::string>;

/// All paths to properties in a part of a schema: "topology.axes.name".
inline void collectProperties(const nlohmann::json& schema, const nlohmann::json& root,
                              const std::string& path, Keys& keys) {
  if (schema.contains("$ref")) {
    const std::string reference = schema["$ref"];
    const nlohmann::json::json_pointer pointer(reference.substr(1));
    ASSERT_TRUE(root.contains(pointer)) << reference;
    collectProperties(root.at(pointer), root, path, keys);
  }
  if (schema.contains("items")) collectProperties(schema["items"], root, path, keys);
  if (schema.contains("oneOf")) {
    for (const nlohmann::json& choice : schema["oneOf"])
      collectProperties(choice, root, path, keys);
  }
  if (!schema.contains("properties")) return;
  EXPECT_EQ(schema.value("additionalProperties", true), root.value("additionalProperties", true))
      << path;
  for (const auto& [key, value] : schema["properties"].items()) {
    keys.insert(path + key);
    collectProperties(value, root, path + key + ".", keys);
  }
  for (const nlohmann::json& key : schema.value("required", nlohmann::json::array()))
    EXPECT_TRUE(schema["properties"].contains(std::string(key))) << path << key;
}

/// Those of the schema in a file; `is_open`: it allows others.
inline Keys keysOfSchema(const std::string& path, bool is_open = false) {
  std::ifstream file(path);
  const nlohmann::json schema = nlohmann::json::parse(file);
  EXPECT_EQ(schema["$schema"], "https://json-schema.org/draft/2020-12/schema");
  EXPECT_EQ(schema.value("additionalProperties", true), is_open);
  Keys keys;
  collectProperties(schema, schema, "", keys);
  return keys;
}

/// Those of a document, without those below `except`.
inline void collectKeys(const nlohmann::json& value, const std::string& path, Keys& keys,
                        const std::string& except = "none") {
  if (value.is_array()) {
    for (const nlohmann::json& element : value)
      collectKeys(element, path, keys, except);
  } else if (value.is_object() && path != except) {
    for (const auto& [key, member] : value.items()) {
      keys.insert(path + key);
      collectKeys(member, path + key + ".", keys, except);
    }
  }
}

}  // namespace torc::schemas

#endif  // TORC_TESTS_IR_JSON_SCHEMA_KEYS_H_
