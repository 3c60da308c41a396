/** Port. Encrypts text so that readers of the storage without the key cannot read it. */
export interface Sealer {
  /**
   * Returns printable text that only `open` with the same context can decrypt. Sealing a text twice gives different
   * results.
   */
  seal(text: string, context: string): string
  /** Returns `undefined` if the text was sealed with an unknown key or another context, or was modified. */
  open(sealed: string, context: string): string | undefined
}
