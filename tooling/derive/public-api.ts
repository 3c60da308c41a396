import ts from 'typescript-api'

/** What one entry point of a package exports. */
export interface EntryApi {
  /** What an author imports, such as `perdure/client`. */
  readonly specifier: string
  readonly exports: readonly ExportedName[]
}

export interface ExportedName {
  readonly name: string
  /** Whether it exists at run time. */
  readonly isValue: boolean
  /** Its declarations, without comments. */
  readonly text: string
  /** Names of types in its declarations that no entry point exports. */
  readonly leaks: readonly string[]
}

/** Types that are exported, but whose members lead to a package of their own. */
const BOUNDARIES: ReadonlySet<string> = new Set([
  'Adapters', // the ports: whoever writes an adapter imports @perdure/ports
  'ConsolidatorPhase', // gets and returns records of the storage, which are in @perdure/ports
])

/**
 * Packages whose types may appear: an author writes schemas of the first, Node.js comes with the second, the third
 * computes types from tables of schemas, and authors who use the AI SDK install it.
 */
const FOREIGN =
  /\/node_modules\/(?:@standard-schema\/spec|@types\/node|undici-types|valibot|typescript|ai|chat|@ai-sdk\/[^/]+|zod|@types\/json-schema)\//

/** Longer declarations are tables, which the reference documentation lists. */
const MAX_LINES = 60

/**
 * Reads what the declaration files of entry points export.
 *
 * @param entries the declaration file of each entry point, by what an author imports
 */
export function publicApi(entries: Readonly<Record<string, string>>): readonly EntryApi[] {
  const program = ts.createProgram(Object.values(entries), OPTIONS)
  const checker = program.getTypeChecker()
  const resolved = (symbol: ts.Symbol) =>
    symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol
  const exportsOf = (file: string): readonly ts.Symbol[] => {
    const source = program.getSourceFile(file)
    const module = source === undefined ? undefined : checker.getSymbolAtLocation(source)
    if (module === undefined) throw new Error(`${file} exports nothing`)
    return checker.getExportsOfModule(module)
  }
  const exported = new Set(Object.values(entries).flatMap((file) => exportsOf(file).map(resolved)))

  /** The own types in these declarations that are not exported. A private alias counts as what it stands for. */
  function leaksOf(symbol: ts.Symbol, seen = new Set<ts.Symbol>()): readonly string[] {
    if (seen.has(symbol) || BOUNDARIES.has(symbol.name)) return []
    seen.add(symbol)
    const mentioned = (symbol.declarations ?? [])
      .flatMap((one) => [exported.has(symbol) ? one : bodyOf(one), ...resultsOf(one)])
      .flatMap(mentionsIn)
    return mentioned.flatMap((name) => {
      const target = resolved(checker.getSymbolAtLocation(name) ?? symbol)
      if (exported.has(target) || !isOwnType(target)) return []
      return isTransparent(target) ? leaksOf(target, seen) : [target.name]
    })
  }

  /** The type that a function returns, for an alias that is written as the result of this function. */
  function resultsOf(declaration: ts.Node): readonly ts.Node[] {
    const name = resultOf(declaration)
    const symbol = name === undefined ? undefined : checker.getSymbolAtLocation(name)
    const target = symbol === undefined ? undefined : resolved(symbol)
    return (target?.declarations ?? []).flatMap((one) => {
      const signature = ts.isVariableDeclaration(one) ? one.type : one
      return signature !== undefined && ts.isFunctionLike(signature) && signature.type !== undefined
        ? [signature.type]
        : []
    })
  }

  return Object.entries(entries).map(([specifier, file]) => ({
    specifier,
    exports: exportsOf(file)
      .map((alias) => {
        const symbol = resolved(alias)
        return {
          name: alias.name,
          isValue: (symbol.flags & ts.SymbolFlags.Value) !== 0 && !isTypeOnly(alias),
          text: listedText(symbol, checker) ?? computedText(symbol, checker) ?? textOf(symbol),
          leaks: [...new Set(leaksOf(symbol))].sort(),
        }
      })
      .sort((a, b) => (a.name < b.name ? -1 : 1)),
  }))
}

const OPTIONS: ts.CompilerOptions = {
  strict: true,
  target: ts.ScriptTarget.ES2024,
  module: ts.ModuleKind.NodeNext,
  moduleResolution: ts.ModuleResolutionKind.NodeNext,
  lib: ['lib.es2024.d.ts', 'lib.esnext.disposable.d.ts', 'lib.dom.d.ts', 'lib.dom.iterable.d.ts'],
  types: ['node'],
  noEmit: true,
}

const isTypeOnly = (alias: ts.Symbol): boolean =>
  alias.declarations?.some((one) => ts.isExportSpecifier(one) && ts.isTypeOnlyExportDeclaration(one)) ?? false

/** What an alias stands for, without the constraints of its parameters, which nobody needs to name. */
const bodyOf = (declaration: ts.Node): ts.Node =>
  ts.isTypeAliasDeclaration(declaration) ? declaration.type : declaration

/**
 * The names of types in a declaration. Leaves out `typeof value`, because the alias around it is the name of that type, and
 * what `Pick` takes members from.
 */
function mentionsIn(node: ts.Node): readonly ts.Node[] {
  if (ts.isTypeQueryNode(node)) return (node.typeArguments ?? []).flatMap(mentionsIn)
  if (nameIn(node)?.getText() === 'Pick') return []
  const own = nameIn(node)
  const below: ts.Node[] = []
  ts.forEachChild(node, (child) => void below.push(...mentionsIn(child)))
  return own === undefined ? below : [own, ...below]
}

function nameIn(node: ts.Node): ts.Node | undefined {
  if (ts.isTypeReferenceNode(node)) return node.typeName
  if (ts.isExpressionWithTypeArguments(node)) return node.expression
  return ts.isImportTypeNode(node) ? node.qualifier : undefined
}

function isOwnType(symbol: ts.Symbol): boolean {
  if (symbol.flags & ts.SymbolFlags.TypeParameter) return false
  return (symbol.declarations ?? []).some((one) => {
    const { fileName } = one.getSourceFile()
    return !FOREIGN.test(fileName)
  })
}

/** An alias that its own module does not export, or that computes a type from its parameters. */
function isTransparent(symbol: ts.Symbol): boolean {
  return (symbol.declarations ?? []).every(
    (one) =>
      (ts.isTypeAliasDeclaration(one) && one.typeParameters !== undefined) ||
      (ts.getCombinedModifierFlags(one as ts.Declaration) & ts.ModifierFlags.Export) === 0,
  )
}

/** The values of an alias that derives from a table of them. */
function listedText(symbol: ts.Symbol, checker: ts.TypeChecker): string | undefined {
  const declaration = symbol.declarations?.find(ts.isTypeAliasDeclaration)
  if (declaration === undefined || isPlain(declaration.type)) return undefined
  const type = checker.getDeclaredTypeOfSymbol(symbol)
  if (!type.isUnion() || !type.types.every((one) => one.isStringLiteral())) return undefined
  const values = type.types.map(({ value }) => `'${value}'`).sort()
  return `export type ${symbol.name} = ${values.join(' | ')};`
}

/** Needs no list: it is one, names another alias, or takes the keys of a table that has its own entry. */
const isPlain = (type: ts.TypeNode): boolean =>
  ts.isUnionTypeNode(type) ||
  ts.isTypeReferenceNode(type) ||
  (ts.isTypeOperatorNode(type) && ts.isTypeQueryNode(type.type))

/** The members of an alias that is written as the result of a function. */
function computedText(symbol: ts.Symbol, checker: ts.TypeChecker): string | undefined {
  const [declaration] = symbol.declarations ?? []
  if (declaration === undefined || resultOf(declaration) === undefined) return undefined
  const { InTypeAlias, NoTruncation } = ts.TypeFormatFlags
  const text = checker.typeToString(checker.getDeclaredTypeOfSymbol(symbol), undefined, InTypeAlias | NoTruncation)
  return `export type ${symbol.name} = ${text.replaceAll('; ', ';\n').replaceAll('{ ', '{\n')}`
}

/** The name of the function, in an alias that is written as `ReturnType<typeof name>`. */
function resultOf(declaration: ts.Node): ts.Node | undefined {
  if (!ts.isTypeAliasDeclaration(declaration) || nameIn(declaration.type)?.getText() !== 'ReturnType') return undefined
  const [argument] = (declaration.type as ts.TypeReferenceNode).typeArguments ?? []
  return argument !== undefined && ts.isTypeQueryNode(argument) ? argument.exprName : undefined
}

const printer = ts.createPrinter({ removeComments: true })

function textOf(symbol: ts.Symbol): string {
  const texts = (symbol.declarations ?? []).map((one) => {
    const statement = ts.isVariableDeclaration(one) ? one.parent.parent : one
    const text = printer.printNode(ts.EmitHint.Unspecified, statement, one.getSourceFile())
    return text.split('\n').length > MAX_LINES ? `${text.slice(0, text.indexOf(':'))}: { … }` : text
  })
  return [...new Set(texts)].join('\n')
}
