/**
 * Port. Turns texts into vectors, so that search finds what means the same in other words. Never called inside a
 * transaction. What it throws is no error for the caller of a search: that one gets the search by words.
 */
export interface Embedder {
  /** Names the model; vectors of another name are made anew. 1 to 128 characters. */
  readonly name: string
  /** Length of every vector. */
  readonly dimensions: number
  /** One vector per text, in their order, of finite numbers; any length of vector, it is normalised afterwards. */
  embed(texts: readonly string[], options: { readonly signal: AbortSignal }): Promise<readonly (readonly number[])[]>
}
