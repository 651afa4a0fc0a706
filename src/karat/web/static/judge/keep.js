// Storage in the browser, by user and project. Each entry has its own key, so that two tabs never overwrite each
// other's. If the browser stores nothing (private windows, full disk), entries are kept in memory.

export class Keep {
  constructor(prefix, storage) {
    this.prefix = prefix;
    this.storage = storage;
    this.memory = new Map();
  }

  get(name) {
    if (this.memory.has(name)) return this.memory.get(name);
    try {
      const text = this.storage.getItem(this.prefix + name);
      return text === null ? null : JSON.parse(text);
    } catch {
      return null;
    }
  }

  // Return whether it survives the page.
  set(name, value) {
    try {
      this.storage.setItem(this.prefix + name, JSON.stringify(value));
      this.memory.delete(name);
      return true;
    } catch {
      this.memory.set(name, value);
      return false;
    }
  }

  remove(name) {
    this.memory.delete(name);
    try {
      this.storage.removeItem(this.prefix + name);
    } catch {
      // Without storage there is nothing to remove.
    }
  }

  // The names with a prefix, sorted.
  names(start) {
    const found = new Set([...this.memory.keys()].filter((name) => name.startsWith(start)));
    try {
      for (let at = 0; at < this.storage.length; at += 1) {
        const name = this.storage.key(at);
        if (name.startsWith(this.prefix + start)) found.add(name.slice(this.prefix.length));
      }
    } catch {
      // Memory alone.
    }
    return [...found].sort();
  }

  // Call with the name and the new value (null: removed) when another tab changed an entry.
  onChange(call) {
    window.addEventListener("storage", (event) => {
      if (event.storageArea !== this.storage || !event.key?.startsWith(this.prefix)) return;
      let value = null;
      try {
        value = event.newValue === null ? null : JSON.parse(event.newValue);
      } catch {
        return;
      }
      call(event.key.slice(this.prefix.length), value);
    });
  }
}

export function browserStorage(name) {
  try {
    return window[name];
  } catch {
    return { length: 0, key: () => null, getItem: () => null, setItem: () => { throw new Error(); }, removeItem() {} };
  }
}

// Random letters; crypto.randomUUID would need https.
export function randomKey() {
  const bytes = crypto.getRandomValues(new Uint8Array(15));
  return Array.from(bytes, (one) => one.toString(36).padStart(2, "0")).join("");
}
