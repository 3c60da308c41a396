/** Encryption at rest of one database file. */
export interface Encryption {
  /** The resolved secret; the key of the file is derived from it. */
  readonly passphrase: Uint8Array
}
