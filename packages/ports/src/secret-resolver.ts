/** Port. Turns a reference such as `env:NAME` or `file:path` into bytes; runs no program, opens no connection. */
export interface SecretResolver {
  /** The part before the first colon, for example `env`. */
  readonly scheme: string
  /** `undefined` when nothing is there; `warning` is shown to the operator. @throws when it cannot be read. */
  resolve(reference: string): Promise<ResolvedSecret | undefined>
}

export interface ResolvedSecret {
  readonly bytes: Uint8Array
  readonly warning?: string
}
