interface ChoiceProps {
  readonly name: string
  readonly value: string | undefined
  readonly options: readonly string[]
  /** Text of the choice that does not restrict anything. */
  readonly none?: string
  readonly onChange: (value: string | undefined) => void
}

/** A filter by one of several values. */
export function Choice({ name, value, options, none = 'any', onChange }: ChoiceProps) {
  return (
    <label>
      {name}
      <select value={value ?? ''} onChange={({ currentTarget }) => onChange(currentTarget.value || undefined)}>
        <option value="">{none}</option>
        {options.map((one) => (
          <option key={one} value={one}>
            {one.replace(/^(agent|workflow):/, '')}
          </option>
        ))}
      </select>
    </label>
  )
}
