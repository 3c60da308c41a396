/** Port. Resolves a reference such as `env:NAME` or `file:path` to bytes; runs no program and opens no connection. */
export interface SecretResolver {
  /** The part before the first colon, for example `env`. */
  readonly scheme: string
  /**
   * Returns `undefined` if there is no secret; `warning` is shown to the operator. @throws if the secret cannot be read
   */
  resolve(reference: string): Promise<ResolvedSecret | undefined>
}

export interface ResolvedSecret {
  readonly bytes: Uint8Array
  readonly warning?: string
}
