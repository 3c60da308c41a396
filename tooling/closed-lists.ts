import ts from 'typescript-api'

/** Values that a source lists: as members of a union of literals, or as elements of an array. */
export interface ClosedList {
  /** The values, sorted. */
  readonly values: string
  readonly line: number
}

const MIN_VALUES = 3
/** Types that choose members of another type: their argument repeats names, not values. */
const SELECTS: ReadonlySet<string> = new Set(['Pick', 'Omit', 'Extract', 'Exclude', 'WriteAppliers'])
/** Cheap to test: most files need not be parsed. */
const CANDIDATE = /'[\w.-]+'\s*[,|]\s*'[\w.-]+'\s*[,|]\s*'[\w.-]+'/

/** The lists of at least three string literals in a source. */
export function closedListsOf(text: string, path = 'source.ts'): readonly ClosedList[] {
  if (!CANDIDATE.test(text)) return []
  const source = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true)
  const lists: ClosedList[] = []
  const add = (node: ts.Node, found: readonly (string | undefined)[]) => {
    const values = [...new Set(found.filter((value) => value !== undefined))].sort()
    if (values.length < MIN_VALUES) return
    lists.push({ values: values.join(' '), line: source.getLineAndCharacterOfPosition(node.getStart()).line + 1 })
  }
  const visit = (node: ts.Node) => {
    if (isExempt(node)) return
    if (ts.isUnionTypeNode(node)) add(node, node.types.map(literalOf))
    if (ts.isArrayLiteralExpression(node)) {
      const literals = node.elements.flatMap((one) => (ts.isStringLiteral(one) ? [one.text] : []))
      if (literals.length === node.elements.length) add(node, literals)
    }
    ts.forEachChild(node, visit)
  }
  visit(source)
  return lists
}

const isExempt = (node: ts.Node): boolean =>
  (ts.isTypeReferenceNode(node) && SELECTS.has(node.typeName.getText())) ||
  (ts.isExpressionWithTypeArguments(node) && SELECTS.has(node.expression.getText())) ||
  // The errors of each operation are rows of the table themselves.
  (ts.isPropertyAssignment(node) && node.name.getText() === 'errors')

const literalOf = (type: ts.TypeNode): string | undefined =>
  ts.isLiteralTypeNode(type) && ts.isStringLiteral(type.literal) ? type.literal.text : undefined
