// The parts of the types of Node.js that callers pass, so that the declarations do not need those types.

/** An upgrade request of `node:http`. */
export interface IncomingUpgrade {
  readonly method?: string | undefined
  readonly url?: string | undefined
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>
}

/** The connection of an upgrade request. */
export interface UpgradeSocket {
  write(chunk: string | Uint8Array): boolean
  destroy(error?: Error): unknown
}
