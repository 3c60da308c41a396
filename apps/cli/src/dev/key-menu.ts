import type { Terminal } from '../terminal.ts'

/** Actions of the keys in `perdure dev`. */
export interface KeyActions {
  open(): void
  mint(): void
  restart(): void
  clear(): void
  interrupt(): void
}

const KEYS: Readonly<Record<string, keyof KeyActions>> = {
  o: 'open',
  t: 'mint',
  r: 'restart',
  c: 'clear',
  q: 'interrupt',
  '\u0003': 'interrupt',
}

export const KEY_HINT = 'o open  t token  r restart  c clear  q quit'

/** Runs the action of each key pressed on an interactive terminal, until the returned function is called. */
export function listenToKeys(terminal: Terminal, actions: KeyActions): () => void {
  if (!terminal.isInteractive) return () => undefined
  return terminal.readKeys((key) => {
    const action = KEYS[key.toLowerCase()]
    if (action !== undefined) actions[action]()
  })
}
