/** What the exit codes of every command mean; `perdure help exit-codes` prints this. */
export const EXIT_CODES = {
  ok: { code: 0, meaning: 'done; also a stop by signal after a clean drain' },
  failed: { code: 1, meaning: 'the command failed, or the server crashed' },
  usage: { code: 2, meaning: 'usage, configuration or a refused start: do not retry unchanged' },
  unreachable: {
    code: 3,
    meaning:
      'cannot reach, busy, timed out, or a run that waits for somebody: a retry is safe; of what was started, with the same --idempotency-key',
  },
  denied: { code: 4, meaning: 'authentication or scope' },
  problem: { code: 5, meaning: 'a check found a problem' },
  conflict: { code: 6, meaning: 'conflict: something is there already, or somebody else was first' },
  storageFault: { code: 70, meaning: 'the server stopped because of a storage fault' },
  interrupted: { code: 130, meaning: 'interrupted' },
} as const satisfies Record<string, { readonly code: number; readonly meaning: string }>

export type ExitName = keyof typeof EXIT_CODES
