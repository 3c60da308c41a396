import { availableParallelism } from 'node:os'

/** CPUs of the server and of the load generator, as for `taskset -c`. */
export interface Cores {
  readonly count: 1 | 2
  readonly server: string
  readonly load: string
}

/** The server gets the first CPUs, and the load the others. On a machine with two CPUs, a server with two shares them. */
export function coresOf(count: 1 | 2): Cores {
  const all = availableParallelism()
  const [server, first] = count === 1 ? ['0', 1] : ['0-1', 2]
  if (all < count) throw new Error(`this case needs ${count} CPUs`)
  return { count, server, load: all > first ? `${first}-${all - 1}` : server }
}

/** The command, limited to these CPUs. */
export const pinned = (cpus: string | undefined, command: readonly string[]): readonly string[] =>
  cpus === undefined ? command : ['taskset', '-c', cpus, ...command]
