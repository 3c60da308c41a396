import { readFileSync } from 'node:fs'
import { join } from 'node:path'

const root = join(import.meta.dirname, '../..')

/** A member of an interface, as its source declares it. */
export interface InterfaceMember {
  /** Without `readonly`: `name?: type`, or the signature of a method. */
  readonly signature: string
  /** Its docstring, or the comment behind it; on one line. */
  readonly says: string
}

/** The members of `export interface <name>` in a file of this repository, in their order. @throws Error when it is not there */
export function interfaceMembers(path: string, name: string): readonly InterfaceMember[] {
  const source = readFileSync(join(root, path), 'utf8')
  const body = new RegExp(`^export interface ${name}\\b[^{]*\\{\\n(.*?)^\\}`, 'ms').exec(source)?.[1]
  if (body === undefined) throw new Error(`${path} declares no interface ${name}`)
  return membersOf(body)
}

/** A docstring, then a line with two spaces before it, then those that are further in or close what it opened. */
const MEMBER = /(?:^ {2}\/\*\*([\s\S]*?)\*\/\n)?^ {2}([^\s/].*\n(?:^(?: {4,}.*| {2}[)}\]].*)\n)*)/gm

/** Reads what the formatter has written. */
export const membersOf = (body: string): readonly InterfaceMember[] =>
  [...body.matchAll(MEMBER)].map(([, doc = '', member = '']) => {
    const [, comment = ''] = / \/\/ (.*)$/m.exec(member) ?? []
    const code = member.replace(/\/\*\*.*?\*\//gs, '').replace(/ \/\/ .*$/gm, '')
    return { signature: tidy(code), says: tidy(`${doc.replace(/^ *\* ?/gm, '')} ${comment}`) }
  })

const tidy = (text: string): string =>
  text
    .replace(/\breadonly /g, '')
    .replace(/\s+/g, ' ')
    .replace(/@throws AppError /g, 'Throws ')
    .replace(/@throws /g, 'Throws ')
    .replace(/([([]) /g, '$1')
    .replace(/,? ([)\]])/g, '$1')
    .trim()
