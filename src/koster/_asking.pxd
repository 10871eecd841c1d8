from koster._engine.document cimport File
from koster._engine.selection cimport Selection
from koster._urls cimport is_read_as_written
from koster.robots cimport RobotsTxt, Rules

cpdef Rules rules_for_question(RobotsTxt robots, object url, object agent)
cpdef Rules rules_for_data(RobotsTxt robots, object agent)
cpdef bint allowed_for_data(RobotsTxt robots, object url, object agent) except -1
cpdef bint allowed_as_browsers_read(Rules rules, object url) except -1
cpdef object url_to_fetch(Rules rules, object url)
cpdef object url_as_sent(Rules rules, object url)
cpdef object decide_as_sent(Rules rules, object url)
cpdef object decision_by(Rules rules, object url, int number)
cpdef File file_of(RobotsTxt robots)
cpdef Selection selection_of(Rules rules)
