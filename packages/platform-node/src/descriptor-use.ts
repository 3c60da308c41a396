import { readdirSync, readFileSync } from 'node:fs'
import { isDescriptorShortage } from '@perdure/ports'

/** File descriptors of this process: every connection, every open file and every pipe takes one. */
export interface DescriptorUse {
  readonly limit: number
  readonly open: number
}

const LIMIT = /^Max open files\s+(\d+)/m

/**
 * Returns `undefined` where the system does not publish the numbers, or sets no limit. Only Linux publishes them.
 *
 * @throws Error `EMFILE` or `ENFILE` if no descriptor is free to read the numbers with
 */
export function readDescriptorUse(processFolder = '/proc/self'): DescriptorUse | undefined {
  try {
    const limit = Number(LIMIT.exec(readFileSync(`${processFolder}/limits`, 'utf8'))?.[1])
    return Number.isNaN(limit) ? undefined : { limit, open: readdirSync(`${processFolder}/fd`).length }
  } catch (error) {
    if (isDescriptorShortage(error)) throw error
    return undefined
  }
}
