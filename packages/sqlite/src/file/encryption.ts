/** Encryption at rest of one database file. */
export interface Encryption {
  /** The resolved secret, from which the key of the file is derived. */
  readonly passphrase: Uint8Array
}
