/** A registration has under this key what its code consists of, for the packages of the SDKs. */
export const CODE_PARTS: unique symbol = Symbol.for('perdure.code-parts') as never

/** What names the code of a registration, such as its model and instructions; `undefined` if nothing is known. */
export const codePartsOf = (registration: object): unknown =>
  (registration as { readonly [CODE_PARTS]?: unknown })[CODE_PARTS]
