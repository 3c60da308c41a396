import type { Program } from './program.ts'
import type { Db } from './query/dialect.ts'
import type { StorageHost } from './storage-host.ts'

/** The methods of a storage port as programs. */
export type Reads<Store> = {
  readonly [Name in keyof Store]: Store[Name] extends (...args: infer Args) => Promise<infer Result>
    ? (db: Db, ...args: Args) => Program<Result>
    : never
}

/** The storage port whose methods run the programs on a host. */
export const createStore = <Store>({ read }: Pick<StorageHost, 'read'>, reads: Reads<Store>): Store => {
  const programs = Object.entries<(db: Db, ...args: unknown[]) => Program<unknown>>(reads as never)
  return Object.fromEntries(
    programs.map(([name, program]) => [name, (...args: unknown[]) => read(program, ...args)]),
  ) as Store
}
