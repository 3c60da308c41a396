/**
 * Port. Turns texts into vectors, so that search also finds facts that say the same thing in other words. Never called
 * inside a transaction. If the embedder throws, the search uses words alone and the caller sees no error.
 */
export interface Embedder {
  /** Name of the model, 1 to 128 characters. When it changes, all vectors are recomputed. */
  readonly name: string
  /** Length of every vector. */
  readonly dimensions: number
  /** Returns one vector of finite numbers per text, in order. Vectors need not be normalised. */
  embed(texts: readonly string[], options: { readonly signal: AbortSignal }): Promise<readonly (readonly number[])[]>
}
