import { readFileSync } from 'node:fs'
import { join } from 'node:path'

const root = join(import.meta.dirname, '../..')

/** A member of an interface, as declared in its source. */
export interface InterfaceMember {
  /** Without `readonly`: `name?: type`, or the signature of a method. */
  readonly signature: string
  /** Its docstring, or its trailing comment, on one line. */
  readonly description: string
}

/**
 * Returns the members of `export interface <name>` in a file of this repository, in order. @throws Error when there is
 * no such interface
 */
export function interfaceMembers(path: string, name: string): readonly InterfaceMember[] {
  const source = readFileSync(join(root, path), 'utf8')
  const body = new RegExp(`^export interface ${name}\\b[^{]*\\{\\n(.*?)^\\}`, 'ms').exec(source)?.[1]
  if (body === undefined) throw new Error(`${path} declares no interface ${name}`)
  return membersOf(body)
}

/**
 * An optional docstring, then a line indented by two spaces, then lines that are indented further or close a bracket.
 */
const MEMBER = /(?:^ {2}\/\*\*([\s\S]*?)\*\/\n)?^ {2}([^\s/].*\n(?:^(?: {4,}.*| {2}[)}\]].*)\n)*)/gm

/** Parses the members of an interface body; relies on the layout of the formatter. */
export const membersOf = (body: string): readonly InterfaceMember[] =>
  [...body.matchAll(MEMBER)].map(([, doc = '', member = '']) => {
    const [, comment = ''] = / \/\/ (.*)$/m.exec(member) ?? []
    const code = member.replace(/\/\*\*.*?\*\//gs, '').replace(/ \/\/ .*$/gm, '')
    return { signature: tidy(code), description: tidy(`${doc.replace(/^ *\* ?/gm, '')} ${comment}`) }
  })

const tidy = (text: string): string =>
  text
    .replace(/\breadonly /g, '')
    .replace(/\s+/g, ' ')
    .replace(/@throws PerdureError /g, 'Throws ')
    .replace(/@throws /g, 'Throws ')
    .replace(/([([]) /g, '$1')
    .replace(/,? ([)\]])/g, '$1')
    .trim()
