import { globSync } from 'node:fs'
import type { Place } from './perdure-process.ts'

/** Gives a process a wall clock of its own, in UTC; its monotonic clock stays that of the machine. */
export function clockAt(place: Place, instant: string): Place {
  const [library] = globSync('/usr/lib/*/faketime/libfaketime.so.1')
  if (library === undefined) throw new Error('libfaketime is missing: apt-get install libfaketime')
  const env = {
    ...place.env,
    LD_PRELOAD: library,
    TZ: 'UTC',
    FAKETIME: `@${instant.replace('T', ' ')}`,
    FAKETIME_DONT_FAKE_MONOTONIC: '1',
    FAKETIME_NO_CACHE: '1',
  }
  return { ...place, env }
}
