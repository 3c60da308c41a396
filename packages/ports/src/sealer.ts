/** Port. Hides a text from whoever reads the storage without the key. */
export interface Sealer {
  /** Printable text that only `open` with the same context turns back. Two seals of one text differ. */
  seal(text: string, context: string): string
  /** `undefined` when it was sealed under a key that is not known, with another context, or was changed. */
  open(sealed: string, context: string): string | undefined
}
