/** Encryption at rest of one database file. */
export interface Encryption {
  /** As resolved from its secret reference; the file's key is derived from it. */
  readonly passphrase: Uint8Array
}
