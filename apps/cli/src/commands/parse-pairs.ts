import { usageError } from '../cli-error.ts'

/** Parses `ticket=17,tier=gold`. */
export function parsePairs(flag: string, text: string): Record<string, string> {
  const pairs = text.split(',').map((pair) => {
    const [, key = '', value = ''] = /^([^=]+)=(.*)$/s.exec(pair) ?? []
    if (key === '') throw usageError(`--${flag} is not a list of pairs: ${text}`, 'write it like ticket=17,tier=gold')
    return [key, value] as const
  })
  return Object.fromEntries(pairs)
}
