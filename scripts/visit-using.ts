/* oxlint-disable typescript/no-deprecated -- swc retires this class without a successor in JavaScript, and dependency-cruiser walks with it. */
import { Visitor } from "@swc/core/Visitor.js";

type Statement = Parameters<Visitor["visitStatement"]>[0];
type Declarators = Parameters<Visitor["visitVariableDeclarators"]>[0];

/** Lets swc's visitor walk `using` declarations, which swc parses but its visitor, being older, throws at. */
export function visitUsingDeclarations(): void {
  const visitStatement = Visitor.prototype.visitStatement;
  Visitor.prototype.visitStatement = function (this: Visitor, statement: Statement) {
    if (!isUsing(statement)) return visitStatement.call(this, statement);
    this.visitVariableDeclarators(statement.decls);
    return statement;
  };
}

function isUsing(statement: { type: string }): statement is Statement & { decls: Declarators } {
  return statement.type === "UsingDeclaration";
}
