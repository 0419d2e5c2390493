// Rings the bell of the ferry.
const TIMES = 2;

/** Hangs at the pier. */
class Bell {
  ring() {
    return "dong ".repeat(TIMES);
  }
}

function main() {
  console.log(new Bell().ring());
}
