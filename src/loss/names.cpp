#include "gcbs/loss.h"

namespace gcbs {

const char* name_of(Direction direction) noexcept {
  switch (direction) {
    case Direction::x: return "x";
    case Direction::y: return "y";
    case Direction::both: break;
  }
  return "both";
}

std::optional<Direction> direction_from(std::string_view name) noexcept {
  for (const Direction direction : {Direction::x, Direction::y, Direction::both})
    if (name == name_of(direction)) return direction;
  return {};
}

const char* name_of(Form form) noexcept { return form == Form::clip ? "clip" : "simclr"; }

std::optional<Form> form_from(std::string_view name) noexcept {
  for (const Form form : {Form::clip, Form::simclr})
    if (name == name_of(form)) return form;
  return {};
}

}  // namespace gcbs
