export interface RemoteFileLimits {
  readonly maxBytes: number
  readonly signal: AbortSignal
}

/**
 * Port. Loads files of other servers, to which clients link. Unless the operator allows the host, it connects only to
 * public addresses. It checks the address of each connection, not only the name, and does so again after each redirect.
 */
export interface RemoteFiles {
  /** Resolves with the content, or with the reason why there is none. Sends no header that identifies a user. */
  load(url: string, limits: RemoteFileLimits): Promise<{ readonly bytes: Uint8Array } | { readonly error: string }>
}
