/** The exit codes of all commands, as printed by `perdure help exit-codes`. */
export const EXIT_CODES = {
  ok: { code: 0, meaning: 'success, including a stop by signal after a clean drain' },
  failed: { code: 1, meaning: 'the command failed, or the server crashed' },
  usage: { code: 2, meaning: 'invalid usage or configuration, or a refused start: do not retry unchanged' },
  unreachable: {
    code: 3,
    meaning:
      'server or database unreachable or busy, timeout, or run not finished: safe to retry; to start a run again, reuse its --idempotency-key',
  },
  denied: { code: 4, meaning: 'authentication failed or the token lacks a scope' },
  problem: { code: 5, meaning: 'a check found a problem' },
  conflict: { code: 6, meaning: 'conflict: the file or resource already exists, or another request came first' },
  storageFault: { code: 70, meaning: 'the server stopped because of a storage fault or a blocked event loop' },
  takenOver: {
    code: 75,
    meaning: 'the server stopped because other servers have taken over its work: start it again',
  },
  interrupted: { code: 130, meaning: 'interrupted' },
} as const satisfies Record<string, { readonly code: number; readonly meaning: string }>

export type ExitName = keyof typeof EXIT_CODES
