import { readFileSync } from 'node:fs'
import { parseAst } from 'rolldown/parseAst'

/** A call that reads the event log. */
export interface LogRead {
  readonly line: number
  /** Whether the call says how much it reads: a length, or one event. */
  readonly isBounded: boolean
}

/** The members of syntax nodes that this file reads. */
interface Node {
  readonly type: string
  readonly start: number
  readonly end: number
  readonly name?: string
  readonly value?: Node
  readonly key?: Node
  readonly id?: Node
  readonly init?: Node | null
  readonly callee?: Node
  readonly object?: Node
  readonly property?: Node
  readonly argument?: Node
  readonly expression?: Node
  readonly arguments?: readonly Node[]
  readonly properties?: readonly Node[]
  readonly params?: readonly Node[]
  readonly extends?: readonly Node[]
  readonly body?: { readonly body: readonly Node[] }
  readonly returnType?: Node
}

function nodesOf(path: string, text: string): readonly Node[] {
  const nodes: Node[] = []
  const visit = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return
    if ('type' in value) nodes.push(value as Node)
    for (const member of Object.values(value)) visit(member)
  }
  visit(parseAst(text, { lang: 'ts' }, path))
  return nodes
}

const READS: ReadonlySet<string> = new Set(['read', 'readBefore', 'scan'])

/** The calls of a module that read the event log: `events.read`, `events.readBefore` and `events.scan`. */
export function logReadsOf(path: string, text: string = readFileSync(path, 'utf8')): readonly LogRead[] {
  const nodes = nodesOf(path, text)
  const textOf = ({ start, end }: Node) => text.slice(start, end)
  const constants = new Map<string, Node>()
  for (const { type, id, init } of nodes) {
    if (type === 'VariableDeclarator' && id !== undefined && init) constants.set(textOf(id), init)
  }

  const isBound = (range: Node | undefined): boolean => {
    if (range?.type === 'TSAsExpression') return isBound(range.expression)
    if (range?.type === 'Identifier') return isBound(constants.get(range.name ?? ''))
    return range?.properties?.some(bounds) === true
  }

  const bounds = ({ type, argument, key, value }: Node): boolean => {
    if (type === 'SpreadElement') return isBound(argument)
    if (key?.name === 'maxLength') return true
    return key?.name === 'limit' && value !== undefined && textOf(value) === '1'
  }

  const isLog = (object: Node | undefined) => object !== undefined && /\bevents$/.test(textOf(object))
  return nodes
    .filter(({ type, callee }) => type === 'CallExpression' && isLog(callee?.object))
    .filter(({ callee }) => READS.has(callee?.property?.name ?? ''))
    .map((call) => ({
      line: text.slice(0, call.start).split('\n').length,
      isBounded: isBound(call.arguments?.[1]),
    }))
}

/** The methods of the ports in a module that list rows and take neither a page, nor a limit, nor the ids of the rows. */
export function unboundedListsOf(path: string, text: string = readFileSync(path, 'utf8')): readonly string[] {
  const textOf = (node: Node | undefined) => (node === undefined ? '' : text.slice(node.start, node.end))
  const interfaces = nodesOf(path, text).filter(({ type }) => type === 'TSInterfaceDeclaration')
  const membersOf = ({ body }: Node) => body?.body ?? []
  const pages = interfaces.filter(
    (one) =>
      membersOf(one).some(({ key }) => /^(?:limit|ids)$/.test(key?.name ?? '')) ||
      one.extends?.some((parent) => textOf(parent).startsWith('PageQuery')),
  )
  const bounded = ['PageQuery', 'EventRange', ...pages.map(({ id }) => textOf(id))]
  const isBoundedBy = (parameter: Node): boolean => {
    const declared = textOf(parameter)
    return /limit/i.test(declared) || /: readonly /.test(declared) || bounded.some((name) => declared.includes(name))
  }
  return interfaces.flatMap((one) =>
    membersOf(one)
      .filter(({ type }) => type === 'TSMethodSignature')
      .filter(({ returnType }) => /Promise<(?:readonly .*\[\]|Page<.*>)>/s.test(textOf(returnType)))
      .filter(({ params = [] }) => !params.some(isBoundedBy))
      .map(({ key }) => `${textOf(one.id)}.${textOf(key)}`),
  )
}
